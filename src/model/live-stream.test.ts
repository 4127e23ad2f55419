import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listedStream, listStreamStates, MAX_LISTED_STREAMS, READY_KEEP_MS, type StreamFacts } from './live-stream.ts';

const NOW = 100 * READY_KEEP_MS;
const NEVER: StreamFacts = {
  domainId: 7,
  app: 'live',
  stream: 'a',
  broadcast: '',
  beganAt: 0,
  endedAt: 0,
  isForbidden: false,
  forbiddenAt: 0,
  forbiddenUntil: 0,
  resumedAt: 0,
};
const ON_AIR = { ...NEVER, broadcast: 'b', beganAt: NOW - 500 };
const ENDED = { ...ON_AIR, endedAt: NOW - 100 };

const ROWS: readonly (readonly [string, StreamFacts, readonly [string, number, number] | undefined])[] = [
  ['on air', ON_AIR, ['ONGOING', NOW - 500, 0]],
  ['ended', ENDED, ['READY', NOW - 500, NOW - 100]],
  ['ended 30 days ago', { ...ENDED, endedAt: NOW - READY_KEEP_MS }, undefined],
  [
    'ended a moment less ago',
    { ...ENDED, endedAt: NOW - READY_KEEP_MS + 1 },
    ['READY', NOW - 500, NOW - READY_KEEP_MS + 1],
  ],
  ['forbidden while on air', { ...ON_AIR, isForbidden: true, forbiddenAt: NOW - 9 }, ['PAUSED', NOW - 500, NOW - 9]],
  ['forbidden after its end', { ...ENDED, isForbidden: true, forbiddenAt: NOW - 9 }, ['PAUSED', NOW - 500, NOW - 100]],
  ['forbidden, never on air', { ...NEVER, isForbidden: true, forbiddenAt: 1 }, ['PAUSED', 0, 0]],
  ['forbidden long ago', { ...ENDED, endedAt: 1, isForbidden: true, forbiddenAt: 1 }, ['PAUSED', NOW - 500, 1]],
  [
    'forbidden until later',
    { ...ENDED, isForbidden: true, forbiddenAt: 1, forbiddenUntil: NOW + 1 },
    ['PAUSED', NOW - 500, NOW - 100],
  ],
  [
    'forbidden until now',
    { ...ENDED, isForbidden: true, forbiddenAt: 1, forbiddenUntil: NOW },
    ['READY', NOW - 500, NOW - 100],
  ],
  [
    'on air again when the mark has run out',
    { ...ON_AIR, isForbidden: true, forbiddenAt: 1, forbiddenUntil: NOW },
    ['ONGOING', NOW - 500, 0],
  ],
  [
    'never on air, and the mark has run out',
    { ...NEVER, isForbidden: true, forbiddenAt: 1, forbiddenUntil: NOW - 5 },
    ['READY', 0, 0],
  ],
  ['resumed, never on air', { ...NEVER, resumedAt: NOW - 5 }, ['READY', 0, 0]],
  ['resumed 30 days ago, never on air', { ...NEVER, resumedAt: NOW - READY_KEEP_MS }, undefined],
];

for (const [name, facts, expected] of ROWS) {
  test(`a stream that is ${name} is ${expected?.[0] ?? 'not listed'}`, () => {
    const listed = listedStream(facts, NOW);
    assert.deepEqual(listed && [listed.state, listed.beganAt, listed.endedAt], expected);
  });
}

test('streams on air come first, then forbidden ones, each with the newest broadcast first', () => {
  const facts = [
    { ...ENDED, stream: 'ended' },
    { ...NEVER, stream: 'forbidden', isForbidden: true },
    { ...ON_AIR, stream: 'b' },
    { ...ON_AIR, stream: 'newer', beganAt: NOW - 1 },
    { ...ON_AIR, stream: 'a' },
    { ...ENDED, stream: 'gone', endedAt: 1 },
  ];
  const order = listStreamStates(facts, NOW).map(({ stream }) => stream);
  assert.deepEqual(order, ['newer', 'a', 'b', 'forbidden', 'ended']);
});

test('a list has at most 10,000 streams', () => {
  const facts = Array.from({ length: MAX_LISTED_STREAMS + 1 }, (_, n) => ({ ...ENDED, stream: String(n) }));
  assert.equal(listStreamStates([...facts, { ...ON_AIR, stream: 'on-air' }], NOW)[0]?.stream, 'on-air');
  assert.equal(listStreamStates(facts, NOW).length, MAX_LISTED_STREAMS);
});
