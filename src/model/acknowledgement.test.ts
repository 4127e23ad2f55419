import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findLagging, isInForce, summarizeAcknowledgements } from './acknowledgement.ts';
import type { KnownEdge } from './edge.ts';
import { isLive } from './edge-live.ts';

const DOMAIN = { name: 'a.example.com', settingRevision: 7 };

function report(appliedRevision: number, ...rejectedKeys: string[]): KnownEdge {
  const rejected = rejectedKeys.map((key) => ({ kind: 'site', key, revision: 7, error: 'no' }));
  return { edge: 'e', appliedRevision, rejected, build: '', startedAt: 0, reportedAt: 0, origins: [], hold: 'ready' };
}

const CASES: readonly (readonly [string, readonly KnownEdge[], boolean])[] = [
  ['no live edge', [], false],
  ['one edge exactly there', [report(7)], true],
  ['one edge beyond', [report(8)], true],
  ['one edge behind', [report(6)], false],
  ['one of two behind', [report(9), report(6)], false],
  ['every edge there', [report(7), report(7)], true],
  ['an edge refuses this domain', [report(8), report(8, 'a.example.com')], false],
  ['an edge refuses another domain', [report(8, 'b.example.com')], true],
];

test('a domain is in force when every live edge, and at least one, has acknowledged its last setting change', () => {
  for (const [name, edges, expected] of CASES) {
    assert.equal(isInForce(DOMAIN, edges), expected, name);
    const { floor, rejectedNames } = summarizeAcknowledgements(edges).ready;
    const bySummary = floor !== undefined && DOMAIN.settingRevision <= floor && !rejectedNames.includes(DOMAIN.name);
    assert.equal(bySummary, expected, `${name}, by the summary`);
  }
});

test('the edges that hold a change back are those that are behind or refuse it', () => {
  const named = (edge: string, known: KnownEdge) => ({ ...known, edge });
  const edges = [named('there', report(7)), named('behind', report(6)), named('refuses', report(8, 'a.example.com'))];
  assert.deepEqual(
    findLagging(DOMAIN, edges).map(({ edge }) => edge),
    ['behind', 'refuses'],
  );
});

test('an edge that has been silent for 30 s no longer counts', () => {
  const edge = { reportedAt: 1000 };
  assert.deepEqual([isLive(edge, 30_999), isLive(edge, 31_000)], [true, false]);
});

test('an edge whose report lies in the future does not count: the clock was set back', () => {
  const edge = { reportedAt: 3_600_000 };
  assert.deepEqual([isLive(edge, 0), isLive(edge, 3_570_000), isLive(edge, 3_570_001)], [false, false, true]);
});
