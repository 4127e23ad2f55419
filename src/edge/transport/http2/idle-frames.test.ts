/** Floods of cheap frames soon exceed the budget; frames of honest clients never do. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createBudget } from './budget.ts';
import { FrameType } from './frames.ts';
import { IdleFrames, type TakenFrame } from './idle-frames.ts';

const LIMITS = { atOnce: 100, perSecond: 10, maxEarned: 500 };
const frame = (type: number, more: Partial<TakenFrame> = {}): TakenFrame => ({
  ...{ type, payloadBytes: 8, isOfStream: false, isIgnored: false },
  ...more,
});
const UNKNOWN = 0xb7;

/** Returns how many of the given number of frames are accepted. */
function taken(frames: IdleFrames, one: TakenFrame, count: number, now = 0, sentBytes = 0): number {
  let n = 0;
  while (n < count && frames.take(one, now, sentBytes)) n += 1;
  return n;
}

describe('frames without a request', () => {
  for (const [name, one] of [
    ['pings', frame(FrameType.ping)],
    ['settings', frame(FrameType.settings)],
    ['priorities', frame(FrameType.priority)],
    ['priorities of an open stream', frame(FrameType.priority, { isOfStream: true })],
    ['windows', frame(FrameType.window)],
    ['windows of an open stream', frame(FrameType.window, { isOfStream: true })],
    ['goodbyes', frame(FrameType.goaway)],
    ['frames of an unknown kind', frame(UNKNOWN)],
    ['empty data of a closed stream', frame(FrameType.data, { payloadBytes: 0 })],
    ['requests that nobody looks at', frame(FrameType.headers, { isIgnored: true })],
  ] as const) {
    test(`${name} may be as many at once as the limit, and some with each second`, () => {
      const frames = new IdleFrames(LIMITS);
      assert.equal(taken(frames, one, 1_000), 100);
      assert.equal(taken(frames, one, 1_000, 2_000), 19); // the one that was too much counts
      assert.equal(taken(frames, one, 1_000, 1_000_000), 100);
    });
  }

  for (const [name, one] of [
    ['requests', frame(FrameType.headers)],
    ['the rest of their fields', frame(FrameType.continuation)],
    ['resets', frame(FrameType.reset)],
    ['data of an open stream', frame(FrameType.data, { payloadBytes: 1, isOfStream: true })],
    ['data of a closed stream that was on its way', frame(FrameType.data, { payloadBytes: 16_384 })],
  ] as const) {
    test(`${name} do not count`, () => {
      assert.equal(taken(new IdleFrames(LIMITS), one, 10_000), 10_000);
    });
  }

  test('a client may send some such frames for each request, and for each byte sent to it', () => {
    const frames = new IdleFrames({ atOnce: 1, perSecond: 0, maxEarned: 500 });
    for (let n = 0; n < 3; n += 1) frames.noteRequest();
    assert.equal(taken(frames, frame(FrameType.priority), 1_000, 0, 640), 41); // 30, 10 and the one at once
  });

  test('earned frames are kept up to a limit', () => {
    const frames = new IdleFrames({ atOnce: 1, perSecond: 0, maxEarned: 500 });
    assert.equal(taken(frames, frame(FrameType.ping), 10_000, 0, 10_000_000), 501);
  });

  test('a client that widens both windows with each frame of 16 KiB is never limited', () => {
    const frames = new IdleFrames({ atOnce: 1, perSecond: 0, maxEarned: 500 });
    for (let sent = 16_384; sent < 2 ** 30; sent += 16_384) {
      for (let n = 0; n < 2; n += 1) assert.equal(frames.take(frame(FrameType.window), 0, sent), true);
    }
  });
});

test('a clock that is set back adds and removes nothing', () => {
  const budget = createBudget({ atOnce: 2, perSecond: 1 });
  assert.deepEqual(
    [10_000, 5_000, 5_000, 6_000, 6_000].map((now) => budget.take(now)),
    [true, true, false, false, false],
  );
});
