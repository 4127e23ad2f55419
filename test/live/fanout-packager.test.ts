/** The packager, fed with made-up streams: what its parts, segments and clocks are, and what it makes of publishers' mistakes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HlsPackager } from '#fanout/hls/packager.ts';
import type { Segment } from '#fanout/hls/window.ts';
import { describeMedia } from '#fanout/media/describe.ts';
import type { MediaMessage } from '#fanout/media/message.ts';
import { Timeline } from '#fanout/media/timeline.ts';
import { type ReadSample, samplesOf } from '../support/live/fragments.ts';
import { aacFrame, aacHeader, avcFrame, avcHeader, feed, frames, type Recipe } from '../support/live/media-messages.ts';

const HEADERS = [avcHeader(), aacHeader()];
const VIDEO = 1;
const AUDIO = 2;
/** Configuration of x264, for pictures of 322x182 at 25 frames a second. */
const OTHER_AVC = '0164000dffe1001a6764000dacd941519e226c0440000003004000000c83c50a658001000668ebe3cb22c0';

function packaged(messages: readonly MediaMessage[], packager = new HlsPackager()): HlsPackager {
  feed(packager, messages);
  return packager;
}

function stream(recipe: Recipe): MediaMessage[] {
  const { frameRate = 30, sampleRate = 44_100 } = recipe;
  return [...(frameRate > 0 ? [avcHeader()] : []), ...(sampleRate > 0 ? [aacHeader()] : []), ...frames(recipe)];
}

function samples({ window }: HlsPackager, track: number): ReadSample[] {
  const bytes = window.listed.flatMap(({ parts }) => parts.map((part) => part.bytes));
  return samplesOf(Buffer.concat(bytes)).filter((sample) => sample.track === track);
}

/** Each sample begins where the one before it ends; gives the number of samples. */
function assertContinuous(found: readonly ReadSample[]): number {
  for (const [index, { decodeAt }] of found.entries()) {
    const before = found[index - 1];
    if (before !== undefined) assert.equal(decodeAt, before.decodeAt + before.duration);
  }
  return found.length;
}

/** What holds of every playlist: RFC 8216bis §4.4.3.7 and §4.4.3.8. */
function assertParts(packager: HlsPackager): void {
  const target = packager.partTargetMs ?? 0;
  for (const segment of packager.window.listed) {
    for (const [index, part] of segment.parts.entries()) {
      const where = `part ${segment.sequence}.${index} of ${part.durationMs} ms, target ${target}`;
      assert.ok(part.durationMs > 0 && part.durationMs <= target + 1e-6, where);
      const isLast = index === segment.parts.length - 1;
      assert.ok(isLast || part.durationMs >= target * 0.85, where);
    }
  }
}

test('parts keep to their target and segments begin with key frames, at every usual frame rate', () => {
  for (const frameRate of [3, 5, 10, 15, 23.976, 24, 25, 29.97, 30, 50, 59.94, 60, 120]) {
    for (const sampleRate of [0, 44_100]) {
      const packager = packaged(stream({ untilMs: 12_000, frameRate, sampleRate }));
      assertParts(packager);
      const complete = packager.window.listed.filter(({ isComplete }) => isComplete);
      assert.equal(complete.length, 5, `${frameRate}`);
      for (const { parts, durationMs } of complete) {
        assert.ok(parts[0]?.isIndependent && Math.abs(durationMs - 2_000) <= 1000 / frameRate + 1, `${durationMs}`);
      }
      assert.equal(packager.targetSeconds, 2);
      assertContinuous(samples(packager, VIDEO));
    }
  }
});

test('every frame is in a part once, and the parts follow on each other', () => {
  const sent = stream({ untilMs: 10_000 });
  const packager = packaged(sent);
  packager.end();
  assert.equal(assertContinuous(samples(packager, VIDEO)), 300);
  assert.equal(assertContinuous(samples(packager, AUDIO)), sent.filter(({ kind }) => kind === 'audio').length - 1);
  const { listed } = packager.window;
  for (const [index, segment] of listed.entries()) {
    const before = listed[index - 1];
    if (before !== undefined) assert.ok(Math.abs(before.startMs + before.durationMs - segment.startMs) < 1e-6);
  }
});

// hls.js loads the parts of a segment again and again where the segment's audio ends before its video.
test('the audio of each part reaches the end of the part, also where it arrives behind the video', () => {
  for (const lateMs of [0, 20, 50, 80]) {
    const sent = frames({ untilMs: 9_000 });
    const at = ({ kind, timestampMs }: MediaMessage) => timestampMs + (kind === 'audio' ? lateMs : 0);
    const { window } = packaged([...HEADERS, ...sent.toSorted((a, b) => at(a) - at(b))]);
    const parts = window.listed.flatMap((segment) => segment.parts);
    assert.ok(parts.length > 30, `${parts.length}`);
    let endMs = 0;
    for (const { bytes, durationMs } of parts) {
      endMs += durationMs;
      const last = samplesOf(bytes).findLast(({ track }) => track === AUDIO);
      const audioEndMs = last === undefined ? 0 : ((last.decodeAt + last.duration) * 1000) / 44_100;
      assert.ok(audioEndMs >= endMs - 1, `audio until ${audioEndMs}, part until ${endMs}, ${lateMs} ms late`);
    }
  }
});

test('audio that ends, or is far behind, does not hold up the parts', () => {
  const isVideo = ({ kind }: MediaMessage) => kind === 'video';
  const at = ({ kind, timestampMs }: MediaMessage) => timestampMs + (kind === 'audio' ? 600 : 0);
  const sent = frames({ untilMs: 9_000 });
  const rows = [
    sent.filter((message) => isVideo(message) || message.timestampMs < 3_000),
    sent.toSorted((a, b) => at(a) - at(b)),
  ];
  for (const messages of rows) {
    const packager = packaged(HEADERS);
    let longest = 0;
    for (const message of messages) {
      feed(packager, [message]);
      const { newest } = packager.window;
      if (newest !== undefined && isVideo(message))
        longest = Math.max(longest, message.timestampMs - newest.startMs - newest.durationMs);
    }
    // A part, the wait, and a frame.
    assert.ok(longest > 0 && longest <= 238 + 120 + 34, `${longest}`);
  }
});

test('44.1 kHz audio has no gaps: its clock counts samples, not milliseconds', () => {
  const packager = packaged(stream({ untilMs: 8_000, frameRate: 0 }));
  const found = samples(packager, AUDIO);
  assertContinuous(found);
  assert.ok(found.every(({ duration }) => duration === 1024));
  assertParts(packager);
  assert.equal(packager.window.newest?.parts[0]?.isIndependent, true);
});

test('audio that is off by more than 100 ms follows its timestamps, forward by a gap and back by leaving frames out', () => {
  const early = frames({ untilMs: 3_000, frameRate: 0 });
  const late = frames({ fromMs: 3_250, untilMs: 6_000, frameRate: 0 });
  const video = frames({ untilMs: 6_000, sampleRate: 0 });
  const ordered = [...early, ...late, ...video].sort((a, b) => a.timestampMs - b.timestampMs);
  const ahead = samples(packaged([...HEADERS, ...ordered]), AUDIO);
  const stepsMs = ahead.slice(1).map(({ decodeAt }, index) => (decodeAt - (ahead[index]?.decodeAt ?? 0)) / 44.1);
  assert.equal(stepsMs.filter((stepMs) => stepMs > 24).length, 1);
  assert.ok(Math.abs(Math.max(...stepsMs) - 250) < 25);

  // The publisher sends audio 30 % too fast: what is too much is left out, and the distance stays bounded.
  const fast = Array.from({ length: 330 }, (_, index) => aacFrame(Math.floor((index * 1_024_000) / 44_100 / 1.3)));
  const both = [...fast, ...video].sort((a, b) => a.timestampMs - b.timestampMs);
  const packager = packaged([...HEADERS, ...both]);
  packager.end();
  assertContinuous(samples(packager, AUDIO));
  const { decodeAt = 0 } = samples(packager, AUDIO).at(-1) ?? {};
  const videoEnd = (samples(packager, VIDEO).at(-1)?.decodeAt ?? 0) / 90_000;
  // Up to 100 ms, and what is caught up.
  assert.ok(Math.abs(decodeAt / 44_100 - videoEnd) < 0.3, `${decodeAt / 44_100} ${videoEnd}`);
});

test('no sample lasts no time, and decoding times only rise, whatever the timestamps', () => {
  const timestamps = fc.array(fc.tuple(fc.nat({ max: 400 }), fc.boolean(), fc.integer({ min: -80, max: 200 })), {
    minLength: 5,
    maxLength: 300,
  });
  fc.assert(
    fc.property(timestamps, (steps) => {
      let at = 0;
      const messages: MediaMessage[] = [...HEADERS, avcFrame(0, true)];
      for (const [stepMs, isKey, compositionMs] of steps) {
        at += stepMs % 5 === 0 ? 0 : stepMs;
        messages.push(avcFrame(at, isKey, { compositionMs }), aacFrame(at));
      }
      const packager = packaged(messages);
      packager.end();
      for (const track of [VIDEO, AUDIO]) {
        const found = samples(packager, track);
        assert.ok(found.every(({ duration }) => duration > 0));
        for (const [index, sample] of found.entries())
          assert.ok(index === 0 || sample.decodeAt > (found[index - 1]?.decodeAt ?? 0));
      }
      for (const { parts } of packager.window.listed) assert.ok(parts.every(({ durationMs }) => durationMs > 0));
    }),
    { seed: 1, numRuns: 300 },
  );
});

test('whatever a publisher sends is packaged or left out, and never throws', () => {
  const header = fc.constantFrom(
    avcHeader(),
    avcHeader(OTHER_AVC),
    aacHeader(),
    aacHeader('1190'),
    aacHeader('ff'),
    avcHeader('01'),
  );
  const stamped = fc.oneof(fc.nat({ max: 3_000 }), fc.nat({ max: 2 ** 32 - 1 }));
  const bytes = fc.record(
    {
      kind: fc.constantFrom('audio' as const, 'video' as const, 'data' as const),
      timestampMs: stamped,
      data: fc
        .tuple(
          fc.constantFrom('', '1701', '2701', 'af01', '2ffffb9064', '9061763031', '916f707573', '904f707573'),
          fc.uint8Array({ maxLength: 30 }),
        )
        .map(([start, rest]) => Buffer.concat([Buffer.from(start, 'hex'), rest])),
    },
    { noNullPrototype: true },
  );
  const frame = fc.tuple(stamped, fc.boolean()).map(([at, isKey]) => avcFrame(at, isKey));
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          header,
          bytes,
          frame,
          stamped.map((at) => aacFrame(at)),
        ),
        { maxLength: 80 },
      ),
      (sent) => {
        const packager = new HlsPackager();
        const timeline = new Timeline();
        for (const [index, message] of sent.entries()) {
          const facts = describeMedia(message);
          packager.push(timeline.place(message, facts, index * 20), facts, index * 20);
          if (index % 37 === 36) packager.discontinuity();
        }
        packager.end();
        for (const { parts } of packager.window.listed)
          for (const part of parts)
            assert.ok(part.durationMs > 0 && samplesOf(part.bytes).every(({ duration }) => duration > 0));
      },
    ),
    { seed: 1, numRuns: 1_000 },
  );
});

test('B-frames are shown at their times, even if decoding times were corrected', () => {
  const sent: [timestampMs: number, compositionMs: number][] = [
    [0, 66],
    [33, 132],
    [33, 33],
    [100, 0],
    [133, -40],
  ];
  const messages = sent.map(([at, compositionMs], index) => avcFrame(at, index === 0, { compositionMs }));
  const packager = packaged([avcHeader(), ...messages, avcFrame(500, true)]);
  packager.end();
  const shown = samples(packager, VIDEO).map(({ decodeAt, composition }) => (decodeAt + composition) / 90);
  assert.deepEqual(shown, [66, 165, 66, 100, 93, 500]);
});

test('a frame that lasts longer than a part does not lengthen the parts, as long as there is audio', () => {
  const video = frames({ untilMs: 8_000, sampleRate: 0 }).filter(
    ({ timestampMs }) => timestampMs < 4_300 || timestampMs > 5_600,
  );
  const audio = frames({ untilMs: 8_000, frameRate: 0 });
  const packager = packaged([...HEADERS, ...[...video, ...audio].sort((a, b) => a.timestampMs - b.timestampMs)]);
  const target = packager.partTargetMs ?? 0;
  const parts = packager.window.listed.flatMap((segment) => segment.parts);
  assert.ok(parts.every(({ durationMs }) => durationMs > 0 && durationMs <= target + 1e-6));
  assert.ok(parts.some(({ videoFrames }) => videoFrames === 0));
  assertContinuous(samples(packager, VIDEO));
});

test('a picture that stops does not stop the sound', () => {
  const video = frames({ untilMs: 4_000, sampleRate: 0 });
  const audio = frames({ untilMs: 30_000, frameRate: 0 });
  const packager = packaged([...HEADERS, ...[...video, ...audio].sort((a, b) => a.timestampMs - b.timestampMs)]);
  const newest = packager.window.newest;
  assert.ok((newest?.startMs ?? 0) + (newest?.durationMs ?? 0) > 29_000);
  const back = frames({ fromMs: 30_000, untilMs: 36_000 });
  feed(packager, back);
  assert.ok((packager.window.newest?.startMs ?? 0) > 33_000);
});

test('a segment is forced when no key frame comes', () => {
  const packager = packaged(stream({ untilMs: 25_000, keyFrameMs: 60_000 }));
  const complete = packager.window.listed.filter(({ isComplete }) => isComplete);
  assert.deepEqual(
    complete.map(({ durationMs }) => Math.round(durationMs / 1000)),
    [10, 10],
  );
  assert.equal(packager.targetSeconds, 10);
  assert.equal(packager.window.listed[1]?.parts[0]?.isIndependent, false);
});

test('a new configuration is a discontinuity with its own init segment, a repeated one changes nothing', () => {
  const packager = packaged(stream({ untilMs: 5_000 }));
  feed(packager, [avcHeader(), aacHeader(), ...frames({ fromMs: 5_000, untilMs: 6_000, keyFrameMs: 1_000 })]);
  assert.deepEqual(summary(packager.window.listed), ['0 init 0', '1 init 0', '2 init 0']);
  feed(packager, [avcHeader(OTHER_AVC), ...frames({ fromMs: 6_000, untilMs: 9_000 })]);
  assert.deepEqual(summary(packager.window.listed), [
    '0 init 0',
    '1 init 0',
    '2 init 0',
    '3 init 1 discontinuity',
    '4 init 1',
  ]);
  assert.equal(packager.formats.video?.width, 322);
});

test('another publisher goes on with a discontinuity, new numbers and the time of day', () => {
  const packager = new HlsPackager();
  feed(packager, stream({ untilMs: 5_000 }), 1_000_000);
  packager.discontinuity();
  feed(packager, frames({ fromMs: 5_000, untilMs: 5_100 }), 1_008_000);
  assert.equal(packager.window.newest?.sequence, 2);
  feed(packager, [avcHeader(), aacHeader(), ...frames({ fromMs: 5_100, untilMs: 7_500 })], 1_008_000);
  const { listed } = packager.window;
  assert.deepEqual(summary(listed), ['0 init 0', '1 init 0', '2 init 0', '3 init 0 discontinuity', '4 init 0']);
  const beganAt = listed.map(({ clock, startMs }) => clock.offsetMs + startMs);
  assert.deepEqual(beganAt, [1_000_000, 1_002_000, 1_004_000, 1_013_100, 1_015_100]);
});

test('the tracks end together before a discontinuity', () => {
  const last = (packager: HlsPackager, track: number) => samples(packager, track).at(-1);
  const endOf = (sample: ReadSample | undefined, ticksPerMs: number) =>
    ((sample?.decodeAt ?? 0) + (sample?.duration ?? 0)) / ticksPerMs;
  for (const kind of ['audio', 'video']) {
    const sent = stream({ untilMs: 5_000 });
    const packager = packaged(sent.filter((message) => message.kind === kind || message.timestampMs < 4_850));
    packager.discontinuity();
    const ends = [endOf(last(packager, VIDEO), 90), endOf(last(packager, AUDIO), 44.1)] as const;
    assert.ok(Math.abs(ends[0] - ends[1]) < 0.1, `${kind} ends last: ${ends.join(' ')}`);
  }
});

test('the window keeps six segments and one more, and counts the discontinuities that left it', () => {
  const packager = packaged(stream({ untilMs: 3_000 }));
  packager.discontinuity();
  feed(packager, [...HEADERS, ...frames({ fromMs: 3_000, untilMs: 30_000 })]);
  const { window } = packager;
  const sequences = window.listed.map(({ sequence }) => sequence);
  assert.equal(sequences.length, 7);
  assert.equal(window.discontinuitySequence, 1);
  const [first = 0] = sequences;
  assert.equal(window.segment(first - 1)?.sequence, first - 1);
  assert.equal(window.segment(first - 2), undefined);
  const held = window.listed.flatMap(({ parts }) => parts).reduce((sum, { bytes }) => sum + bytes.length, 0);
  assert.ok(packager.bytesHeld < held * 1.3, `${packager.bytesHeld} for ${held}`);
});

test('a publisher whose timestamps stand still does not fill the memory', () => {
  const packager = packaged(HEADERS);
  const bytes = 4 * 1024 * 1024;
  for (let index = 0; index < 120; index++) feed(packager, [avcFrame(100, index === 0, { bytes })]);
  assert.ok(packager.bytesHeld < 200 * 1024 * 1024, `${packager.bytesHeld}`);
});

test('video that cannot be read leaves the audio', () => {
  const packager = packaged([avcHeader('0142'), aacHeader(), ...frames({ untilMs: 3_000 })]);
  assert.equal(packager.formats.video, undefined);
  assert.equal(packager.window.newest?.sequence, 1);
});

test('numbers continue after a pause without viewers, so that no cache has another file by the same name', () => {
  const packager = packaged(stream({ untilMs: 5_000 }));
  packager.suspend();
  assert.equal(packager.bytesHeld, 0);
  feed(packager, stream({ fromMs: 60_000, untilMs: 63_000 }));
  assert.deepEqual(summary(packager.window.listed), ['3 init 1 discontinuity', '4 init 1']);
});

function summary(segments: readonly Segment[]): string[] {
  return segments.map(
    ({ sequence, init, isDiscontinuity }) => `${sequence} init ${init}${isDiscontinuity ? ' discontinuity' : ''}`,
  );
}
