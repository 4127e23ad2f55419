import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Counters, type MinuteCounters, noCounters } from './counters.ts';
import { RECENT_STEPS, RecentCounts, STEP_MS } from './recent-counts.ts';

const START = Date.UTC(2026, 0, 31, 12);
const STEP = START / STEP_MS;
const MINUTE_MS = 60_000;

const counted = (domainId: number, at: number, counts: Partial<Counters>): MinuteCounters => ({
  ...noCounters(),
  ...counts,
  domainId,
  minute: Math.floor(at / MINUTE_MS),
});

function requestsOf(recent: RecentCounts, domainIds: readonly number[], last: number): readonly number[] {
  return recent.sumUp(domainIds, last)?.sums.map(({ requests }) => requests) ?? assert.fail('not everything is kept');
}

describe('counts of the last minutes', () => {
  test('domains are summed up by steps of ten seconds', () => {
    const recent = new RecentCounts(START);
    recent.add([counted(1, START, { requests: 2 }), counted(2, START, { requests: 5 })], START + 1000);
    recent.add([counted(1, START, { requests: 3 })], START + 9000);
    recent.add([counted(1, START, { requests: 7, bytesOut: 9 })], START + 12_000);
    assert.deepEqual(requestsOf(recent, [1], STEP + 1).slice(-3), [0, 5, 7]);
    assert.deepEqual(requestsOf(recent, [1, 2, 3], STEP + 1).slice(-3), [0, 10, 7]);
    assert.equal(recent.sumUp([1], STEP + 1)?.sums.at(-1)?.bytesOut, 9);
    assert.equal(recent.sumUp([1], STEP + 1)?.since, STEP + 1);
  });

  test('what is read late stays in its minute, so that the steps come to what the minute does', () => {
    const recent = new RecentCounts(START);
    recent.add([counted(1, START - 1, { requests: 4 })], START + 1500);
    recent.add([counted(1, START + 5 * MINUTE_MS, { requests: 8 })], START + 5 * MINUTE_MS - 500);
    assert.deepEqual(requestsOf(recent, [1], STEP).slice(-2), [4, 0]);
    assert.deepEqual(requestsOf(recent, [1], STEP + 30).slice(-2), [0, 8]);
  });

  test('what is older than the steps is forgotten', () => {
    const recent = new RecentCounts(START);
    recent.add([counted(1, START, { requests: 1 })], START);
    const later = START + 2 * RECENT_STEPS * STEP_MS;
    recent.add([counted(1, START, { requests: 1 }), counted(1, later, { requests: 6 })], later);
    assert.deepEqual(requestsOf(recent, [1], STEP).at(-1), 0);
    assert.deepEqual(requestsOf(recent, [1], STEP + 2 * RECENT_STEPS).at(-1), 6);
  });

  test('sums are refused while there are more domains than there is room for', () => {
    const recent = new RecentCounts(START);
    const many = Array.from({ length: 50_001 }, (_, n) => counted(n + 1, START, { requests: 1 }));
    recent.add(many, START);
    assert.equal(recent.sumUp([1], STEP), undefined);
    const later = START + 2 * RECENT_STEPS * STEP_MS;
    recent.add([counted(1, later, { requests: 6 })], later);
    assert.equal(requestsOf(recent, [1], STEP + 2 * RECENT_STEPS).at(-1), 6);
  });
});
