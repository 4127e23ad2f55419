/** When an identity is renewed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRenewalDue } from './renewal.ts';

const DAY_MS = 86_400_000;

test('an identity is renewed by the time since it was saved, however wrong the clock of the machine is', () => {
  const savedAt = 1_800_000_000_000;
  const identity = { savedAt, renewAfterMs: 3.5 * DAY_MS };
  const rows: readonly (readonly [days: number, isDue: boolean])[] = [
    [0, false],
    [3.4, false],
    [3.5, true],
    [40, true],
    // The clock was set back: that the time is unknown is no reason to wait for ever.
    [-1, false],
    [-30, true],
  ];
  for (const [days, isDue] of rows)
    assert.equal(isRenewalDue(identity, savedAt + days * DAY_MS), isDue, `${days} days`);
});
