import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  isFinal,
  messageStateOf,
  nextPartState,
  PART_STATES,
  type PartEvent,
  type PartState,
  partStatesThatAllow,
} from './sms-part.ts';

const EVENTS: readonly PartEvent[] = [
  'claim',
  'accept',
  'simulate',
  'refuse',
  'postpone',
  'lose',
  'deliver',
  'undeliver',
  'expire',
  'giveUp',
  'optOut',
];

test('the first end of a part holds, whatever happens, and only a simulation ends as one', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 30 }), (events) => {
      let state: PartState = 'queued';
      const past: PartEvent[] = [];
      for (const event of events) {
        const next = nextPartState(state, event);
        if (isFinal(state)) assert.equal(next, undefined);
        if (next !== undefined) past.push(event);
        state = next ?? state;
        if (state === 'simulated') assert.equal(past.includes('accept') || past.includes('deliver'), false);
        if (state === 'submitted') assert.equal(past.includes('simulate'), false);
      }
    }),
  );
});

test('only a queued part is claimed, and a submitted one is never queued again', () => {
  assert.deepEqual(partStatesThatAllow('claim'), ['queued']);
  assert.deepEqual(partStatesThatAllow('postpone'), ['submitting', 'uncertain']);
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
