import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns } from './turns.ts';

/** Recordings with so many pieces that wait, and the order in which they are sent. */
const ROWS: readonly { readonly waiting: Readonly<Record<string, number>>; readonly order: string }[] = [
  { waiting: {}, order: '' },
  { waiting: { '1/a': 3 }, order: '1/a 1/a 1/a' },
  { waiting: { '1/a': 4, '2/b': 1 }, order: '1/a 2/b 1/a 1/a 1/a' },
  { waiting: { '1/a': 3, '1/b': 2, '2/c': 2 }, order: '1/a 2/c 1/b 2/c 1/a 1/b 1/a' },
  { waiting: { '1/a': 0, '2/b': 0, '3/c': 2 }, order: '3/c 3/c' },
];

test('domains take turns, and within each its recordings do', () => {
  for (const { waiting, order } of ROWS) {
    const turns = new Turns<{ readonly name: string; left: number }>();
    for (const [name, left] of Object.entries(waiting)) {
      const [domainId = '', recording = ''] = name.split('/');
      turns.add(Number(domainId), recording, { name, left });
    }
    const taken: string[] = [];
    for (let next = turns.take(({ left }) => left > 0); next !== undefined; next = turns.take(({ left }) => left > 0)) {
      next.left--;
      taken.push(next.name);
    }
    assert.equal(taken.join(' '), order);
  }
});

test('a new recording is next during a backlog, except for those whose turn it is', () => {
  const turns = new Turns<string>();
  turns.add(1, 'a', 'a');
  turns.take(() => true);
  turns.add(2, 'b', 'b');
  assert.equal(
    turns.take(() => true),
    'a',
  );
  assert.equal(
    turns.take(() => true),
    'b',
  );
  turns.delete(1, 'a');
  assert.deepEqual([...turns], ['b']);
});
