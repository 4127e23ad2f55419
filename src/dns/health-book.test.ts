import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EdgeVerdict } from './choose.ts';
import { HealthBook } from './health-book.ts';

const KEY = '192.0.2.1:80';

function verdictAfter(results: readonly EdgeVerdict[]): EdgeVerdict | undefined {
  const book = new HealthBook();
  book.keepOnly([KEY]);
  for (const verdict of results) book.note(KEY, { verdict });
  return book.look(KEY).verdict;
}

const ROWS: readonly (readonly [results: readonly EdgeVerdict[], verdict: EdgeVerdict | undefined])[] = [
  [[], undefined],
  [['up'], 'up'],
  [['down'], 'down'],
  [['up', 'down'], 'up'],
  [['up', 'down', 'down'], 'down'],
  [['up', 'down', 'up', 'down'], 'up'],
  [['down', 'up', 'up'], 'down'],
  [['down', 'up', 'up', 'up'], 'up'],
  [['up', 'out'], 'out'],
  [['out', 'up'], 'up'],
  [['out', 'down'], 'out'],
  [['out', 'down', 'down'], 'down'],
];

for (const [results, verdict] of ROWS)
  test(`an address with the probes ${results.join(', ') || 'none'} is ${verdict ?? 'unknown'}`, () => {
    assert.equal(verdictAfter(results), verdict);
  });

test('an address that loses no two probes in a row never goes down', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 200 }), (losses) => {
      const results = losses.flatMap((isLost): EdgeVerdict[] => (isLost ? ['down', 'up'] : ['up']));
      assert.equal(verdictAfter(['up', ...results]), 'up');
    }),
  );
});

test('an address that is gone is forgotten, and one that is new makes the book incomplete', () => {
  const book = new HealthBook();
  book.keepOnly(['a', 'b']);
  book.note('a', { verdict: 'up' });
  assert.equal(book.isComplete, false);
  book.keepOnly(['a']);
  assert.equal(book.isComplete, true);
  book.note('b', { verdict: 'up' }); // a probe that was under way
  assert.equal(book.isComplete, true);
});
