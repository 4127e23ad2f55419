import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readLocal, writeLocal } from './zoned-time.ts';

describe('times of the day in a zone', () => {
  test('an instant comes back, to the minute', () => {
    for (const zone of ['UTC', 'Asia/Shanghai', 'America/St_Johns', 'Pacific/Chatham'])
      for (const at of [0, Date.UTC(2026, 0, 31, 12, 34), Date.UTC(2026, 6, 1, 23, 59)])
        assert.equal(readLocal(writeLocal(at, zone), zone), at, zone);
    assert.equal(writeLocal(Date.UTC(2026, 0, 31, 20, 0, 59), 'Asia/Shanghai'), '2026-02-01T04:00');
  });

  test('where a clock is changed there is one answer', () => {
    const berlin = 'Europe/Berlin';
    // 02:30 is left out on 29 March, and is there twice on 25 October.
    assert.equal(readLocal('2026-03-29T02:30', berlin), Date.UTC(2026, 2, 29, 1, 30));
    assert.equal(readLocal('2026-10-25T02:30', berlin), Date.UTC(2026, 9, 25, 0, 30));
    assert.equal(readLocal('2026-03-29T03:30', berlin), Date.UTC(2026, 2, 29, 1, 30));
  });

  test('other texts give undefined', () => {
    for (const text of ['', '2026-01-31', '2026-13-31T12:00', 'x2026-01-31T12:00'])
      assert.equal(readLocal(text, 'UTC'), undefined, text);
  });
});
