/** Which edges on other machines are alive. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLiveness } from './liveness.ts';

test('an edge is alive while it is heard of; an open stream alone counts for a minute', () => {
  const liveness = createLiveness();
  const streams = [
    { edge: 'old', openedAt: 0 },
    { edge: 'new', openedAt: 100_000 },
  ];
  liveness.hear('old');
  liveness.hear('old');
  liveness.hear('posting');
  assert.deepEqual(liveness.look(streams, 100_000), ['old', 'posting', 'new']);
  assert.deepEqual(liveness.look(streams, 105_000), ['new'], 'the cable of the old one may be cut');
  liveness.hear('old');
  assert.deepEqual(liveness.look(streams, 110_000), ['old', 'new']);
  assert.deepEqual(liveness.look(streams, 160_000), []);
});
