import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualTimers } from '../../test/support/timers.ts';
import { SeldomLog } from './seldom-log.ts';

test('the first is logged at once, and others once a minute with their number', () => {
  const timers = createManualTimers();
  const log = new SeldomLog(timers);
  const counts: number[] = [];
  const note = () => log.note((count) => void counts.push(count));
  for (let n = 1; n <= 3; n += 1) note();
  assert.deepEqual(counts, [1]);
  timers.advance(59_999);
  note();
  timers.advance(1);
  note();
  assert.deepEqual(counts, [1, 4]);
  timers.advance(60_000);
  note();
  assert.deepEqual(counts, [1, 4, 1]);
});
