import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attentionOf } from './attention-of.ts';

const NOW = Date.UTC(2026, 0, 31);
const DAY_MS = 86_400_000;

test('a domain needs attention when it is refused, or when its certificate ends soon', () => {
  const rows: readonly (readonly [status: number | '5', days: number, found: readonly string[]])[] = [
    [2, 0, []],
    [0, 0, []],
    [2, 21.5, []],
    [2, 20, ['certificate warn']],
    [2, 6.9, ['certificate bad']],
    [2, -1, ['certificate bad']],
    ['5', 0, ['state bad']],
    [6, 3, ['state bad', 'certificate bad']],
  ];
  for (const [domain_status, days, found] of rows) {
    const ssl_ends_at = days === 0 ? 0 : NOW + days * DAY_MS;
    const matters = attentionOf({ domain_status, ssl_ends_at }, NOW);
    assert.deepEqual(
      matters.map(({ kind, tone }) => `${kind} ${tone}`),
      found,
      `${domain_status}, ${days} days`,
    );
  }
});
