import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS } from '#lib/durations.ts';
import { judgeEnd } from './certificates.ts';

const NOW = 1_769_832_000_000;

test('a certificate is told in its last third, at 14, 7, 3 and 1 days and when it has ended', () => {
  const rows: readonly (readonly [validDays: number, daysLeft: number, told: string])[] = [
    [90, 14.1, ''],
    [90, 14, 'certificate 1 14'],
    [90, 7.5, 'certificate 1 14'],
    [90, 7, 'certificate 2 7'],
    [90, 3, 'certificate 3 3'],
    [90, 0.5, 'certificate 4 1'],
    [90, 0, 'expired 0 1'],
    [90, -5, 'expired 0 1'],
    // Renewed every few days: its end is always near.
    [6, 3, ''],
    [6, 1.5, ''],
    [6, 1, 'certificate 1 1'],
    [1, 0.9, ''],
    [1, -0.1, 'expired 0 0'],
  ];
  for (const [validDays, daysLeft, told] of rows) {
    const endsAt = NOW + daysLeft * DAY_MS;
    const startsAt = endsAt - validDays * DAY_MS;
    const found = judgeEnd({ key: 'k', accountId: 7, names: ['a.example', 'b.example'], startsAt, endsAt }, NOW);
    const words = found.map(({ kind, level, data }) => `${kind} ${level} ${data['days']}`);
    assert.equal(words.join(), told, `${validDays} days, ${daysLeft} left`);
  }
});
