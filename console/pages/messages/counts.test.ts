import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countByDay, daysUntil } from './counts.ts';

describe('counts of messages', () => {
  test('days are those of the zone, also where the clocks change', () => {
    assert.deepEqual(daysUntil(Date.UTC(2026, 0, 31, 17), 2, 'Asia/Shanghai'), {
      days: ['2026-01-31', '2026-02-01'],
      from: Date.UTC(2026, 0, 30, 16) / 1000,
    });
    // The night to 29 March 2026 has one hour less.
    const { days } = daysUntil(Date.UTC(2026, 2, 30, 0), 3, 'Europe/Berlin');
    assert.deepEqual(days, ['2026-03-28', '2026-03-29', '2026-03-30']);
  });

  test('states are counted in their groups, and a day without messages has zeros', () => {
    const sum = (status: 'delivered' | 'failed' | 'queued' | 'simulated' | 'uncertain', messages: number) => ({
      ...{ day: '2026-01-31', app_key: '', status, messages, parts: messages * 2, price: messages * 3 },
    });
    const list = [sum('delivered', 4), sum('failed', 1), sum('uncertain', 2), sum('queued', 1), sum('simulated', 5)];
    assert.deepEqual(countByDay(list, ['2026-01-30', '2026-01-31'], 'UTC'), [
      {
        day: '2026-01-30',
        time: Date.UTC(2026, 0, 30) / 1000,
        messages: { trouble: 0, simulated: 0, underWay: 0, delivered: 0 },
        parts: 0,
        price: 0,
      },
      {
        day: '2026-01-31',
        time: Date.UTC(2026, 0, 31) / 1000,
        messages: { trouble: 3, simulated: 5, underWay: 1, delivered: 4 },
        parts: 26,
        price: 39,
      },
    ]);
  });
});
