import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lanesOf } from './route.ts';

const MAX_TRIES = 5;

/** Rows for a route with three connectors: which are up, and which parts each of them takes, by how often they failed. */
const ROWS: readonly (readonly [up: readonly number[], taken: Readonly<Record<number, string>>])[] = [
  [[1, 2, 3], { 1: '0-4', 2: '5-9', 3: '10-' }],
  [[1, 3], { 1: '0-4', 3: '5-' }],
  [[2, 3], { 2: '0-9', 3: '10-' }],
  [[3], { 3: '0-' }],
  [[1, 2], { 1: '0-4', 2: '5-9' }],
  [[1], { 1: '0-4' }],
  [[], {}],
];

test('a connector takes parts that failed on those before it or while they are down; the last one however often they failed', () => {
  const routes = [{ prefix: '+852', connectorIds: [1, 2, 3] }];
  for (const [up, taken] of ROWS) {
    const found = [1, 2, 3].flatMap((id) =>
      lanesOf(id, routes, (other) => up.includes(other), MAX_TRIES).map(({ minTries, maxTries }) => {
        return [id, `${minTries}-${maxTries < 1_000_000 ? maxTries : ''}`];
      }),
    );
    assert.deepEqual(Object.fromEntries(found), taken, `up: ${up}`);
  }
});

test('parts that failed on connectors no longer in the route are taken by the last one', () => {
  const [lane] = lanesOf(1, [{ prefix: '', connectorIds: [1] }], () => true, MAX_TRIES);
  assert.ok(lane !== undefined && lane.minTries === 0 && lane.maxTries >= 2 * MAX_TRIES);
});
