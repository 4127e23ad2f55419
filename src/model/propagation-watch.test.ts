import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PropagationWatch } from './propagation-watch.ts';

const CHANGE = {
  from: 'audit',
  id: 1,
  at: 0,
  accountId: 2,
  what: 'domain.change',
  target: { kind: 'domain', id: '7' },
  revision: 10,
} as const;
const edge = (name: string, appliedRevision: number, rejected = '[]') => ({ edge: name, appliedRevision, rejected });

test('a hint is given once for each step of the edges, and none after the last one has applied the change', () => {
  const watch = new PropagationWatch();
  watch.follow(CHANGE, 0);
  const look = (...edges: Parameters<PropagationWatch['look']>[0]) => watch.look(edges, 1).length;
  assert.deepEqual(
    [
      look(),
      look(edge('a', 9), edge('b', 9)),
      look(edge('a', 10), edge('b', 9)),
      look(edge('a', 12), edge('b', 9)),
      look(edge('a', 12), edge('b', 9, '[1]')),
    ],
    [0, 0, 1, 0, 1],
  );
  assert.equal(watch.isEmpty, false);
  assert.deepEqual(watch.look([edge('a', 12), edge('b', 10)], 5), [
    { kind: 'domain', id: '7', revision: 10, at: 5, hint: 'propagation', accountId: 2 },
  ]);
  assert.equal(watch.isEmpty, true);
});

test('a change that an edge never applies is followed for a minute, and at most a thousand are', () => {
  const watch = new PropagationWatch();
  watch.follow(CHANGE, 0);
  watch.look([edge('a', 1)], 59_999);
  assert.equal(watch.isEmpty, false);
  watch.look([edge('a', 1)], 60_000);
  assert.equal(watch.isEmpty, true);
  for (let id = 1; id <= 1001; id++) watch.follow({ ...CHANGE, target: { kind: 'domain', id: String(id) } }, 0);
  const ids = watch.look([edge('a', 10)], 1).map((hint) => hint.id);
  assert.deepEqual([ids.length, ids[0]], [1000, '2']);
});

test('changes of other things, and those that make no revision, are not followed', () => {
  const watch = new PropagationWatch();
  watch.follow({ ...CHANGE, revision: undefined }, 0);
  watch.follow({ ...CHANGE, target: { kind: 'certificate', id: '7' } }, 0);
  assert.equal(watch.isEmpty, true);
});
