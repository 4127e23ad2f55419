import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PartOutcome } from '#model/sms-part.ts';
import type { SubmitOutcome } from './carrier.ts';
import { type OutcomeFacts, partOutcomeOf } from './outcome.ts';

const FACTS: OutcomeFacts = { tries: 1, position: 0, connectors: 1, isMisconfigured: false, now: 1000, random: 0.5 };
const refused = (status: string, kind: Extract<SubmitOutcome, { kind: 'refused' }>['class']): SubmitOutcome => ({
  kind: 'refused',
  status,
  class: kind,
});

const ROWS: readonly [string, SubmitOutcome, Partial<OutcomeFacts>, PartOutcome][] = [
  [
    'taken',
    { kind: 'accepted', carrierId: '1a', keys: ['1a', '26'] },
    {},
    { kind: 'accepted', carrierId: '1a', keys: ['1a', '26'] },
  ],
  ['simulated', { kind: 'simulated' }, {}, { kind: 'simulated' }],
  ['no answer', { kind: 'uncertain', reason: 'timeout' }, {}, { kind: 'lost', error: 'timeout' }],
  ['not sent', { kind: 'unsent', reason: 'closed' }, {}, { kind: 'postponed', error: 'closed' }],
  ['a wrong number', refused('0x0000000b', 'permanent'), {}, { kind: 'refused', error: '0x0000000b' }],
  ['settings that may be wrong', refused('cmpp:7', 'misconfigured'), {}, { kind: 'refused', error: 'cmpp:7' }],
  [
    'settings that are wrong: the part waits, and it does not count',
    refused('cmpp:7', 'misconfigured'),
    { isMisconfigured: true, tries: 5 },
    { kind: 'postponed', error: 'cmpp:7' },
  ],
  [
    'throttled: the part keeps its place and its tries',
    refused('0x00000058', 'throttled'),
    { tries: 5 },
    { kind: 'postponed', error: '0x00000058' },
  ],
  [
    'an error of the carrier: later, and it counts',
    refused('0x00000008', 'transient'),
    {},
    { kind: 'postponed', dueAt: 4750, error: '0x00000008' },
  ],
  [
    'the last time: elsewhere at once',
    refused('0x00000008', 'transient'),
    { tries: 5, connectors: 2 },
    { kind: 'postponed', dueAt: 1000, error: '0x00000008' },
  ],
  [
    'the last time, and nowhere else to go: it has failed',
    refused('0x00000008', 'transient'),
    { tries: 5 },
    { kind: 'refused', error: '0x00000008' },
  ],
];

for (const [name, outcome, facts, expected] of ROWS)
  test(`the outcome of a part: ${name}`, () => {
    assert.deepEqual(partOutcomeOf(outcome, { ...FACTS, ...facts }), expected);
  });
