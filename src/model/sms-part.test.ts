import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isFinal, messageStateOf, PART_EVENTS, PART_STATES, type PartState } from './sms-part.ts';

const EVENTS = Object.entries(PART_EVENTS).map(
  ([event, { from, to }]): readonly [string, readonly PartState[], PartState] => [event, from, to],
);

test('the first end of a part holds, whatever happens, and only a simulation ends as one', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 30 }), (events) => {
      let state: PartState = 'queued';
      const past: string[] = [];
      for (const [event, from, to] of events) {
        if (!from.includes(state)) continue;
        assert.ok(!isFinal(state));
        past.push(event);
        state = to;
        if (state === 'simulated') assert.equal(past.includes('accept') || past.includes('deliver'), false);
        if (state === 'submitted') assert.equal(past.includes('simulate'), false);
      }
    }),
  );
});

test('only a queued part is claimed, and a submitted one is never queued again', () => {
  assert.deepEqual(PART_EVENTS.claim.from, ['queued']);
  assert.deepEqual(PART_EVENTS.postpone.from, ['submitting', 'uncertain']);
  assert.deepEqual(PART_STATES.filter(isFinal), ['simulated', 'delivered', 'failed', 'expired', 'unknown', 'rejected']);
});

test('a message is delivered when every part is, and failed when one is', () => {
  const rows: readonly [readonly PartState[], PartState][] = [
    [['delivered', 'delivered'], 'delivered'],
    [['delivered', 'submitted'], 'submitted'],
    [['delivered', 'failed'], 'failed'],
    [['queued', 'failed'], 'failed'],
    [['delivered', 'expired', 'submitted'], 'expired'],
    [['submitted', 'queued'], 'queued'],
    [['submitted', 'uncertain'], 'uncertain'],
    [['delivered', 'unknown'], 'unknown'],
    [['simulated', 'simulated'], 'simulated'],
    [['rejected'], 'rejected'],
  ];
  for (const [states, expected] of rows) assert.equal(messageStateOf(states), expected, states.join());
});
