import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Audience } from './audience.ts';

test('a viewer counts for 30 s after its last request', () => {
  const audience = new Audience();
  audience.note('a', 'one', 0);
  audience.note('a', 'two', 10_000);
  audience.note('b', 'one', 20_000);
  audience.note('a', 'one', 25_000);
  assert.deepEqual(
    [...audience.watching(39_999)],
    [
      ['a', ['two', 'one']],
      ['b', ['one']],
    ],
  );
  assert.deepEqual(
    [...audience.watching(40_000)],
    [
      ['a', ['one']],
      ['b', ['one']],
    ],
  );
  assert.deepEqual([...audience.watching(55_000)], []);
});

test('10,000 viewers of one stream are counted, and others can still come', () => {
  const audience = new Audience();
  for (let n = 0; n < 10_500; n++) audience.note('a', `${n}`, 0);
  audience.note('a', '5', 1);
  audience.note('b', 'one', 1);
  assert.equal(audience.watching(2).get('a')?.length, 10_000);
  assert.deepEqual(audience.watching(2).get('b'), ['one']);
  assert.deepEqual(audience.watching(30_000).get('a'), ['5']);
});
