/**
 * Random client input, without a socket: nothing throws, nothing grows, and every answer is sent or lost exactly once.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Conversation, type StreamRequest } from './conversation.ts';
import { FrameReader } from './frame-reader.ts';
import { FrameFlag, FrameType, formatFrame, formatReset, formatWindowUpdate, PREFACE } from './frames.ts';
import { createFieldMaker } from './hpack/decoder.ts';
import { encodeFields } from './hpack/encoder.ts';
import { makeRequestField } from './request-field.ts';
import { Sender } from './sender.ts';
import type { Http2Stream } from './stream.ts';

const MAX_STREAMS = 10;
const WRITE_BYTES = 32 * 1024;
const MAKER = createFieldMaker(makeRequestField);
const HEAD = encodeFields([':status', '200', 'content-type', 'text/plain']);

interface Answered {
  outs: number;
  losses: number;
}

/** Answers every request with the given number of bytes, in pieces. */
function openPeer(bodyBytes: (asked: StreamRequest) => number) {
  const answered: Answered[] = [];
  const seen = { isBroken: false, requests: 0, closed: 0 };
  const sender = new Sender(() => undefined);
  const conversation: Conversation = new Conversation({
    sender,
    fieldMaker: MAKER,
    maxStreams: MAX_STREAMS,
    maxListBytes: 4_096,
    oddities: { atOnce: 50, perSecond: 0 },
    idleFrames: { atOnce: 100, perSecond: 0, maxEarned: 1_000 },
    clock: () => 0,
    listener: {
      onRequest: (asked) => {
        seen.requests += 1;
        answer(conversation.open(asked), bodyBytes(asked));
      },
      onStreamClosed: () => {
        seen.closed += 1;
      },
      onLeaving: () => conversation.leave(),
      onBroken: () => {
        seen.isBroken = true;
        conversation.end();
      },
    },
  });
  function answer(stream: Http2Stream, bytes: number): void {
    const told = { outs: 0, losses: 0 };
    answered.push(told);
    stream.owner = {
      onData: (data) => stream.giveRoom(data.length),
      onRequestEnd: () => undefined,
      onRoom: () => undefined,
      onOut: () => {
        told.outs += 1;
      },
      onLost: () => {
        told.losses += 1;
      },
    };
    stream.sendHead(HEAD, bytes === 0);
    for (let left = bytes; left > 0; left -= 10_000) stream.write(Buffer.alloc(Math.min(left, 10_000), left % 251));
    if (bytes > 0) stream.end();
  }
  /** Bytes that would be written to a socket. */
  const write = (): Buffer => {
    sender.gather(WRITE_BYTES);
    const bytes = Buffer.alloc(sender.bytes);
    const outgoing = sender.takeInto(bytes);
    for (const one of outgoing) one.noteWritten(true);
    return bytes;
  };
  const receive = (bytes: Buffer): void => {
    let isDone = conversation.receive(bytes);
    while (!isDone) isDone = conversation.goOn();
  };
  return { conversation, sender, answered, seen, receive, write };
}

const ASK = encodeFields([':method', 'GET', ':scheme', 'https', ':authority', 'a.example', ':path', '/']);
const SETTINGS = formatFrame({ type: FrameType.settings, flags: 0, streamId: 0 });
const setting = (name: number, value: number): Buffer => {
  const payload = Buffer.alloc(6);
  payload.writeUInt16BE(name);
  payload.writeUInt32BE(value, 2);
  return formatFrame({ type: FrameType.settings, flags: 0, streamId: 0 }, payload);
};
const ask = (streamId: number) =>
  formatFrame({ type: FrameType.headers, flags: FrameFlag.endHeaders | FrameFlag.endStream, streamId }, ASK);

interface Read {
  readonly type: number;
  readonly streamId: number;
  readonly flags: number;
  readonly bytes: number;
}

function readFrames(bytes: Buffer): Read[] {
  const reader = new FrameReader();
  reader.push(bytes);
  const frames: Read[] = [];
  while (reader.next() === 'frame')
    frames.push({
      type: reader.type,
      streamId: reader.streamId,
      flags: reader.flags,
      bytes: reader.end - reader.start,
    });
  return frames;
}

describe('bodies', () => {
  test('bodies of several streams are sent in turn, a frame each, as far as the windows permit', () => {
    const peer = openPeer(() => 40_000);
    peer.receive(Buffer.concat([PREFACE, SETTINGS, ask(1), ask(3), ask(5)]));
    const data = () => readFrames(peer.write()).filter(({ type }) => type === FrameType.data);
    const streamsOf = (frames: readonly Read[]) => frames.map(({ streamId }) => streamId);
    assert.deepEqual(streamsOf(data()), [1, 3, 5, 1]);
    const more = data();
    assert.equal(
      more.reduce((sum, { bytes }) => sum + bytes, 0),
      65_535 - 40_000,
    );
    assert.deepEqual(data(), [], 'the window of the connection is used up');
    peer.receive(formatWindowUpdate(0, 100_000));
    const rest: Read[] = [];
    for (let frames = data(); frames.length > 0; frames = data()) rest.push(...frames);
    assert.equal(
      rest.reduce((sum, { bytes }) => sum + bytes, 0),
      120_000 - 65_535,
    );
    assert.equal(rest.filter(({ flags }) => (flags & FrameFlag.endStream) !== 0).length, 3);
    assert.deepEqual(
      peer.answered,
      Array.from({ length: 3 }, () => ({ outs: 1, losses: 0 })),
    );
    assert.equal(peer.conversation.streams.size, 0);
  });

  test('bodies wait for the window of their stream, even a negative one, and delay no others', () => {
    const peer = openPeer(() => 5_000);
    peer.receive(Buffer.concat([PREFACE, setting(4, 1_000), ask(1)]));
    assert.equal(readFrames(peer.write()).filter(({ type }) => type === FrameType.data)[0]?.bytes, 1_000);
    peer.receive(setting(4, 500)); // -500
    peer.receive(Buffer.concat([formatWindowUpdate(1, 500), ask(3)]));
    assert.deepEqual(
      readFrames(peer.write())
        .filter(({ type }) => type === FrameType.data)
        .map(({ streamId, bytes }) => [streamId, bytes]),
      [[3, 500]],
    );
    peer.receive(Buffer.concat([1, 3].map((id) => formatWindowUpdate(id, 1))));
    assert.deepEqual(
      readFrames(peer.write())
        .filter(({ type }) => type === FrameType.data)
        .map(({ streamId, bytes }) => [streamId, bytes]),
      [
        [1, 1],
        [3, 1],
      ],
    );
  });

  test('a stream that is reset sends nothing more, and its answer is dropped', () => {
    const peer = openPeer(() => 100_000);
    peer.receive(Buffer.concat([PREFACE, SETTINGS, ask(1), ask(3)]));
    peer.write();
    peer.receive(formatReset(1, 8));
    assert.ok(readFrames(peer.write()).every(({ streamId }) => streamId !== 1));
    assert.deepEqual(peer.answered[0], { outs: 0, losses: 1 });
  });
});

test('a client that wants a smaller table is told once that it is empty, before the next fields', () => {
  const peer = openPeer(() => 0);
  const sections = () => {
    const bytes = peer.write();
    const reader = new FrameReader();
    reader.push(bytes);
    const first: number[] = [];
    while (reader.next() === 'frame')
      if (reader.type === FrameType.headers) first.push(reader.bytes[reader.start] ?? 0);
    return first;
  };
  peer.receive(Buffer.concat([PREFACE, setting(1, 0), ask(1), ask(3)]));
  assert.deepEqual(sections(), [0x20, 0x88]);
  peer.receive(Buffer.concat([setting(1, 4_096), ask(5)]));
  assert.deepEqual(sections(), [0x88]);
});

describe('random bytes', () => {
  const streamId = fc.constantFrom(0, 1, 1, 3, 3, 5, 7, 2, 9, 11, 13, 2 ** 31 - 1);
  const flags = fc.constantFrom(0, 1, 4, 5, 8, 12, 13, 32, 37, 255);
  const anyFrame = fc
    .tuple(
      fc.integer({ min: 0, max: 11 }),
      flags,
      streamId,
      fc.oneof(fc.uint8Array({ maxLength: 60 }), fc.constant(ASK)),
    )
    .map(([type, itsFlags, id, payload]) => formatFrame({ type, flags: itsFlags, streamId: id }, payload));
  const goodFrame = fc.oneof(
    streamId.map(ask),
    fc
      .tuple(streamId, fc.constantFrom(1, 100, 70_000, 2 ** 31 - 1))
      .map(([id, bytes]) => formatWindowUpdate(id, bytes)),
    fc.tuple(streamId, fc.constantFrom(0, 8)).map(([id, code]) => formatReset(id, code)),
    fc.constantFrom(0, 1, 1_000, 65_535, 2 ** 31 - 1).map((window) => setting(4, window)),
    fc
      .tuple(streamId, flags, fc.uint8Array({ maxLength: 300 }))
      .map(([id, its, payload]) => formatFrame({ type: FrameType.data, flags: its & 1, streamId: id }, payload)),
  );

  test('random frames in random pieces: memory is bounded, and each answer is reported once', () => {
    const said = fc.array(fc.oneof({ weight: 6, arbitrary: goodFrame }, { weight: 1, arbitrary: anyFrame }), {
      maxLength: 60,
    });
    let broken = 0;
    fc.assert(
      fc.property(said, fc.integer({ min: 1, max: 700 }), (frames, pieceBytes) => {
        const peer = openPeer(({ id }) => (id % 3) * 30_000);
        const bytes = Buffer.concat([PREFACE, SETTINGS, ...frames]);
        for (let at = 0; at < bytes.length; at += pieceBytes) {
          peer.receive(bytes.subarray(at, at + pieceBytes));
          assert.ok(peer.conversation.streams.size <= MAX_STREAMS);
          assert.ok(peer.write().length <= WRITE_BYTES + 64 * 1024);
        }
        if (peer.seen.isBroken) broken += 1;
        peer.conversation.end();
        for (const { outs, losses } of peer.answered) assert.equal(outs + losses, 1);
        assert.equal(peer.seen.closed, peer.seen.requests);
      }),
      { seed: 1, numRuns: 1_000 },
    );
    assert.ok(broken > 100 && broken < 1_000, `${broken} are broken`);
  });

  test('random bytes end the connection', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 10 }), (pieces) => {
        const peer = openPeer(() => 10);
        peer.receive(Buffer.concat([PREFACE, SETTINGS]));
        for (const piece of pieces) peer.receive(Buffer.from(piece));
        peer.write();
      }),
      { seed: 1, numRuns: 1_000 },
    );
  });
});
