import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseLeases, leaseRows, type StoredLease } from './lease.ts';

const lease = (name: string, holder: string, isLive = true): StoredLease => ({ name, holder, isLive });

test('a control asks for its own row, else for the first that nobody holds', () => {
  const rows: readonly [string, number, readonly StoredLease[], string | undefined][] = [
    ['nobody has held it', 1, [], 'a'],
    ['its own', 1, [lease('a', 'me')], 'a'],
    ['its own that has ended and that nobody has taken', 1, [lease('a', 'me', false)], 'a'],
    ['held by another', 1, [lease('a', 'you')], undefined],
    ['ended at another', 1, [lease('a', 'you', false)], 'a'],
    ['two holders, one place free', 2, [lease('a', 'you')], 'a/2'],
    ['two holders, the second is its own', 2, [lease('a', 'you', false), lease('a/2', 'me')], 'a/2'],
    ['two holders, both others', 2, [lease('a', 'you'), lease('a/2', 'her')], undefined],
    ['fewer holders than before', 1, [lease('a', 'you'), lease('a/2', 'me')], undefined],
  ];
  for (const [what, holders, stored, expected] of rows)
    assert.equal(chooseLeases([{ name: 'a', holders }], stored, 'me').get('a'), expected, what);
});

test('leases are chosen independently of each other', () => {
  const wanted = [
    { name: 'a', holders: 1 },
    { name: 'b', holders: 1 },
  ];
  assert.deepEqual([...chooseLeases(wanted, [lease('a', 'you')], 'me')], [['b', 'b']]);
});

test('a lease of one holder has one row of its own name', () => {
  assert.deepEqual(leaseRows({ name: 'connector:5', holders: 1 }), ['connector:5']);
  assert.deepEqual(leaseRows({ name: 'connector:5', holders: 3 }), ['connector:5', 'connector:5/2', 'connector:5/3']);
});
