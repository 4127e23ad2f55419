import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  DRAIN_MS,
  DRAINED_BELOW,
  EDGE_ACTIONS,
  EDGE_STATES,
  type EdgeFacts,
  type EdgeState,
  edgeHold,
  edgeState,
  edgeStatesThatAllow,
  edgeTransition,
  holdingEdges,
} from './edge-state.ts';

const NOW = 1_000_000_000;
const SEEN = NOW - 5000;
const LONG_AGO = NOW - 60 * 60_000;

const NEW: EdgeFacts = {
  removedAt: undefined,
  revokedAt: undefined,
  suspectAt: undefined,
  drainAt: undefined,
  seenAt: undefined,
  ownState: undefined,
  requestsPerSecond: 0,
};
const READY: Partial<EdgeFacts> = { seenAt: SEEN, ownState: 'ready', requestsPerSecond: 500 };

test('the state of an edge follows from decisions, its own report and when it was seen', () => {
  const rows: readonly (readonly [EdgeState, Partial<EdgeFacts>])[] = [
    ['enrolled', {}],
    ['syncing', { seenAt: SEEN }],
    ['syncing', { seenAt: SEEN, ownState: 'syncing' }],
    ['ready', READY],
    ['ready', { ...READY, seenAt: NOW - 29_999 }],
    ['away', { ...READY, seenAt: NOW - 30_000 }],
    ['away', { ...READY, seenAt: NOW + 30_000 }], // from before control's clock was set back
    ['away', { seenAt: LONG_AGO }],
    ['unhealthy', { ...READY, ownState: 'unhealthy' }],
    ['draining', { ...READY, drainAt: NOW }],
    ['draining', { ...READY, drainAt: NOW - DRAIN_MS }],
    ['draining', { ...READY, drainAt: NOW - DRAIN_MS, requestsPerSecond: DRAINED_BELOW }],
    ['draining', { ...READY, drainAt: NOW - DRAIN_MS + 1, requestsPerSecond: 0 }],
    ['drained', { ...READY, drainAt: NOW - DRAIN_MS, requestsPerSecond: DRAINED_BELOW - 0.1 }],
    ['draining', { ...READY, drainAt: NOW + 1000, requestsPerSecond: 0 }],
    ['draining', { ...READY, seenAt: LONG_AGO, drainAt: NOW - 1000 }],
    ['drained', { ...READY, seenAt: LONG_AGO, drainAt: LONG_AGO }],
    ['drained', { ...READY, ownState: 'unhealthy', drainAt: LONG_AGO, requestsPerSecond: 0 }],
    ['suspect', { ...READY, suspectAt: LONG_AGO }],
    ['suspect', { ...READY, seenAt: LONG_AGO, suspectAt: LONG_AGO }],
    ['draining', { ...READY, suspectAt: LONG_AGO, drainAt: NOW }],
    ['revoked', { ...READY, suspectAt: LONG_AGO, drainAt: NOW, revokedAt: LONG_AGO }],
    ['removed', { ...READY, drainAt: NOW, revokedAt: LONG_AGO, removedAt: LONG_AGO }],
  ];
  for (const [expected, facts] of rows)
    assert.equal(edgeState({ ...NEW, ...facts }, NOW), expected, JSON.stringify(facts));
  assert.deepEqual([...new Set(rows.map(([state]) => state))].sort(), [...EDGE_STATES].sort());
});

test('each action is allowed, refused or changes nothing, as the table says for each state', () => {
  const table: readonly (readonly [EdgeState, string])[] = [
    //           drain    undrain  remove
    ['enrolled', 'allowed  same     allowed'],
    ['syncing', ' allowed  same     allowed'],
    ['ready', '   allowed  same     forced'],
    ['unhealthy', 'allowed same     allowed'],
    ['draining', 'same     allowed  allowed'],
    ['drained', ' same     allowed  allowed'],
    ['away', '    allowed  same     allowed'],
    ['suspect', ' allowed  same     allowed'],
    ['revoked', ' refused  refused  allowed'],
    ['removed', ' refused  refused  same'],
  ];
  for (const [state, row] of table)
    assert.deepEqual(
      EDGE_ACTIONS.map((action) => edgeTransition(state, action)),
      row.trim().split(/\s+/),
      state,
    );
  assert.deepEqual(
    table.map(([state]) => state),
    EDGE_STATES,
  );
  assert.deepEqual(edgeStatesThatAllow('undrain'), ['draining', 'drained']);
});

test('ready edges hold changes back; if there is none, those that are seen and may be ready again', () => {
  /** States, in capitals where the edge is seen; then those that hold changes back. */
  const rows: readonly (readonly [string, string])[] = [
    ['READY AWAY UNHEALTHY DRAINING SUSPECT', 'ready'],
    ['READY READY SYNCING', 'ready ready'],
    ['UNHEALTHY away suspect', 'unhealthy'],
    ['SYNCING DRAINED draining drained', 'syncing drained'],
    ['away SUSPECT REVOKED REMOVED ENROLLED', ''],
    ['', ''],
  ];
  for (const [states, expected] of rows) {
    const words = states.split(' ').filter((word) => word !== '');
    const edges = words.map((word) => {
      const state = EDGE_STATES.find((known) => known === word.toLowerCase());
      assert.ok(state);
      return { state, hold: edgeHold({ state, isSeen: word === word.toUpperCase() }) };
    });
    assert.equal(
      holdingEdges(edges)
        .map(({ state }) => state)
        .join(' '),
      expected,
      states,
    );
  }
});
