/** Delays of an edge before it asks control again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failures, feedDelayMs, type Outage } from './reconnect.ts';

type Row = readonly [
  outage: Outage,
  failures: number,
  controls: number,
  least: number,
  most: number,
  outageMs?: number,
];

const REFUSED: Outage = { kind: 'refused', retryAfterMs: undefined };

test('the delay before a new request grows with failures, with full jitter, and is short on the unix socket', () => {
  const table: readonly Row[] = [
    [REFUSED, 1, 1, 0, 100],
    [REFUSED, 3, 1, 0, 400],
    [REFUSED, 9, 1, 0, 5000],
    [REFUSED, 10, 1, 0, 60_000],
    [REFUSED, 19, 2, 0, 5000],
    [REFUSED, 20, 2, 0, 60_000],
    [REFUSED, 20, 2, 0, 5000, 59_999],
    [REFUSED, 1000, 0, 2500, 5000],
    [{ kind: 'refused', retryAfterMs: 7000 }, 1, 1, 7000, 7000],
    [{ kind: 'goaway', waitMs: 700 }, 1, 1, 700, 700],
    [{ kind: 'lost', spreadMs: 20_000 }, 1, 1, 0, 20_000],
    [{ kind: 'lost', spreadMs: 0 }, 1, 1, 0, 100],
    [{ kind: 'lost', spreadMs: 20_000 }, 1, 0, 50, 100],
    [{ kind: 'version' }, 1, 1, 54_000, 66_000],
    [{ kind: 'version' }, 1, 0, 54_000, 66_000],
  ];
  for (const [outage, failures, remoteControls, least, most, outageMs = 60_000] of table) {
    const at = (random: number) => feedDelayMs(outage, { failures, outageMs, remoteControls }, random);
    assert.deepEqual([at(0), at(1)], [least, most], JSON.stringify({ outage, failures, outageMs, remoteControls }));
  }
});

test('an outage begins with the first failure, and ends when a stream is followed', () => {
  const failures = new Failures();
  assert.deepEqual(failures.attempts(5000), { failures: 1, outageMs: 0 });
  failures.add(10_000);
  failures.add(12_000);
  assert.deepEqual(failures.attempts(15_000), { failures: 2, outageMs: 5000 });
  failures.reset();
  failures.add(20_000);
  assert.deepEqual(failures.attempts(21_000), { failures: 1, outageMs: 1000 });
});
