import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideStream, IDLE, STREAM_LIMITS, type StreamEvent, type StreamState } from './stream-state.ts';

const T = 1_000_000;

/** The state after these events at T. */
function after(...events: readonly StreamEvent[]): StreamState {
  return events.reduce((state, event) => decideStream(state, event, T, STREAM_LIMITS).state, IDLE);
}

const admitted = (source: 'publish' | 'origin'): StreamEvent => ({
  kind: 'publish',
  holder: { id: 1, source, address: '192.0.2.1' },
  isForbidden: false,
});
const MEDIA: StreamEvent = { kind: 'media', holder: 1, broadcast: 'b1' };
const ended = (at: number, reason: string) => ({ kind: 'ended', broadcast: 'b1', at, reason });

test('a stream is released to the next live process as it would be to another publisher', () => {
  const live = after(admitted('publish'), MEDIA);
  const broken = decideStream(live, { kind: 'gone', holder: 1, isClean: false }, T + 1000, STREAM_LIMITS).state;
  const rows: readonly (readonly [what: string, state: StreamState, afterMs: number, effects: readonly unknown[]])[] = [
    ['not on air', IDLE, 0, []],
    ['its publisher sends', live, 5_000, [{ kind: 'refuse', reason: 'busy' }]],
    ['its publisher has just been admitted', after(admitted('publish')), 0, [{ kind: 'refuse', reason: 'busy' }]],
    [
      'its publisher is silent',
      live,
      5_001,
      [{ kind: 'cut', holder: 1, reason: 'silent' }, ended(T + 5_001, 'replaced')],
    ],
    ['its publisher is awaited', broken, 1_500, [ended(T, 'lost')]],
    [
      'it is pulled',
      after(admitted('origin'), MEDIA),
      0,
      [{ kind: 'cut', holder: 1, reason: 'replaced' }, ended(T, 'replaced')],
    ],
  ];
  for (const [what, state, afterMs, effects] of rows) {
    const decision = decideStream(state, { kind: 'release' }, T + afterMs, STREAM_LIMITS);
    assert.deepEqual(decision.effects, effects, what);
    const isKept = effects.some((effect) => Object(effect).kind === 'refuse');
    assert.equal(decision.state === state || decision.state === IDLE, true, what);
    assert.equal(decision.state === state, isKept || state === IDLE, what);
  }
});
