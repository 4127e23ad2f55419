/** When an edge leaves a control that has announced its end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDeparture } from './departure.ts';

test('an edge leaves at a random instant within the announced time, and at once if that is 0', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 1000;
  let left = 0;
  const options = { leave: () => (left += 1), random: () => 0.75, steadyClock: () => now };
  const departure = createDeparture(options);
  assert.equal(departure.remainingMs, undefined);
  departure.announce(4000);
  assert.equal(departure.remainingMs, 3000);
  now += 2999;
  t.mock.timers.tick(2999);
  assert.deepEqual([departure.remainingMs, left], [1, 0]);
  departure.announce(0); // control says it again: its time is over
  t.mock.timers.tick(1);
  assert.deepEqual([departure.remainingMs, left], [0, 1]);
  departure[Symbol.dispose]();
});

test('an edge whose stream has ended is not to leave it again', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let left = 0;
  const departure = createDeparture({ leave: () => (left += 1), random: () => 0.5, steadyClock: () => 0 });
  departure.announce(4000);
  departure[Symbol.dispose]();
  t.mock.timers.tick(4000);
  assert.deepEqual([departure.remainingMs, left], [2000, 0]);
});
