import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageCounts } from './message-counts.ts';

type Row = Parameters<typeof messageCounts>[0][number];

test('messages of today are counted by what became of them', () => {
  const row = (day: string, status: Row['status'], messages: number): Row => {
    return { day, app_key: '', status, messages, parts: messages, price: 0 };
  };
  const rows = [
    row('2026-01-30', 'delivered', 90),
    row('2026-01-31', 'delivered', 5),
    row('2026-01-31', 'failed', 2),
    row('2026-01-31', 'expired', 1),
    row('2026-01-31', 'queued', 4),
    row('2026-01-31', 'simulated', 3),
  ];
  assert.deepEqual(messageCounts(rows, '2026-01-31'), { sent: 15, delivered: 5, failed: 3, open: 7 });
  assert.deepEqual(messageCounts(rows, '2026-02-01'), { sent: 0, delivered: 0, failed: 0, open: 0 });
});
