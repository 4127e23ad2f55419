import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatherCalls } from './gathered-calls.ts';

const HOUR_MS = 3_600_000;

test('calls that arrive in the pause after a round share the next one, which begins when it is full', async () => {
  const rounds: (readonly string[])[] = [];
  let now = 0;
  const calls = gatherCalls<string, string>({
    perform: async (round) => {
      rounds.push(round);
      now += HOUR_MS;
      return round.map((call) => call.toUpperCase());
    },
    isAway: () => false,
    round: { calls: 3, size: 10 },
    waiting: { calls: 100, size: 100 },
    pause: { maxMs: HOUR_MS, clock: () => now }, // each round takes an hour, so a pause would, too
  });
  assert.equal(await calls.perform('a', 1), 'A');
  const bySize = [calls.perform('b', 1), calls.perform('c', 9)];
  assert.deepEqual(await Promise.all(bySize), ['B', 'C']);
  const byNumber = ['d', 'e', 'f'].map((call) => calls.perform(call, 1));
  assert.deepEqual(await Promise.all(byNumber), ['D', 'E', 'F']);
  assert.deepEqual(rounds, [['a'], ['b', 'c'], ['d', 'e', 'f']]);
});
