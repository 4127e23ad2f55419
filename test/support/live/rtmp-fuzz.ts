/** Mutated RTMP sessions: whatever a client sends ends at most its own connection, and memory stays within the limits. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { type AmfValue, encodeAmf0 } from '#live/rtmp/amf0.ts';
import { writeMessage } from '#live/rtmp/chunk-writer.ts';
import { HANDSHAKE_END_BYTES } from '#live/rtmp/handshake.ts';
import { controlMessage, MESSAGE_TYPE, type RtmpMessage } from '#live/rtmp/messages.ts';
import { sampleMessages } from './rtmp-client.ts';
import { beginHandshake } from './rtmp-handshake.ts';
import { createRecordingOwner } from './rtmp-server.ts';
import { openSession } from './rtmp-session.ts';

/** How often what was of interest came about. */
export interface FuzzSeen {
  /** Sessions by how they ended; those that went on are `open`. */
  readonly ends: Map<string, number>;
  published: number;
  messages: number;
  /** The most that array buffers took, beyond what they took at first. */
  peakBytes: number;
}

/** Sessions between two looks at the memory. */
const ROUND = 100;

export async function fuzzSessions(count: number, seed: number): Promise<FuzzSeen> {
  const random = createRandom(seed);
  const whole = [recordPublisher(undefined), recordPublisher(0), recordPublisher(1), recordPlayer()];
  const seen: FuzzSeen = { ends: new Map(), published: 0, messages: 0, peakBytes: 0 };
  const before = process.memoryUsage().arrayBuffers;
  for (let index = 0; index < count; index++) {
    await runOne(mutate(whole[index % whole.length] ?? [], random), random, seen);
    if (index % ROUND === 0) seen.peakBytes = Math.max(seen.peakBytes, process.memoryUsage().arrayBuffers - before);
  }
  return seen;
}

async function runOne(pieces: readonly Buffer[], random: Random, seen: FuzzSeen): Promise<void> {
  const owner = createRecordingOwner();
  const client = openSession(owner, false);
  for (const piece of split(Buffer.concat(pieces), random)) {
    client.receive(piece);
    // The owner's answer comes a little later, within what the client sends.
    if (client.isPaused) await turn();
  }
  await turn();
  seen.published += owner.published.length;
  for (const { messages } of owner.published) {
    seen.messages += messages.length;
    for (const { data } of messages) assert.ok(data.length > 0 && data.length <= 8 * 1024 * 1024);
  }
  seen.ends.set(client.end ?? 'open', (seen.ends.get(client.end ?? 'open') ?? 0) + 1);
  assert.notEqual(client.end, 'failed');
  if (client.end !== undefined) assert.notEqual(client.finish, undefined);
  client.session.leave('the end of the test');
  for (const { end } of owner.published) assert.notEqual(end, undefined);
  assert.deepEqual([owner.viewers.size, client.timers.size], [0, 0]);
}

/** The handshake, then a buffer for each message. */
function recordPublisher(schema: 0 | 1 | undefined): Buffer[] {
  const chunkBytes = 512;
  const written = (message: RtmpMessage) =>
    writeMessage(message, message.type === MESSAGE_TYPE.command ? 3 : 4, chunkBytes);
  return [
    ...handshake(schema),
    ...connect(),
    writeMessage(controlMessage('setChunkSize', chunkBytes), 2, 128),
    written(command(0, 'releaseStream', 2, null, 'a')),
    written(command(0, 'FCPublish', 3, null, 'a')),
    written(command(0, 'createStream', 4, null)),
    written(command(1, 'publish', 5, null, 'a', 'live')),
    ...sampleMessages(20, 0xfffff0).map(({ kind, timestampMs, data }) =>
      written({ type: MESSAGE_TYPE[kind], timestamp: timestampMs, streamId: 1, payload: data }),
    ),
    written({ type: MESSAGE_TYPE.aggregate, timestamp: 9, streamId: 1, payload: AGGREGATE }),
    written({ type: MESSAGE_TYPE.userControl, timestamp: 0, streamId: 0, payload: Buffer.from('000600000001', 'hex') }),
    written(command(0, 'FCUnpublish', 6, null, 'a')),
    written(command(0, 'deleteStream', 7, null, 1)),
  ];
}

/** Records the session of a player of an absent stream: the refusal is tried here, the player itself in the other tests. */
function recordPlayer(): Buffer[] {
  return [
    ...handshake(undefined),
    ...connect(),
    writeMessage(command(0, 'createStream', 2, null), 3, 128),
    writeMessage(command(1, 'play', 3, null, 'a', -2000), 3, 128),
    writeMessage(command(1, 'pause', 0, null, true, 0), 3, 128),
  ];
}

const AGGREGATE = Buffer.from(
  '09000002000064000000001701000000 0d08000001000065000000 00af0000000c'.replaceAll(' ', ''),
  'hex',
);

function handshake(schema: 0 | 1 | undefined): Buffer[] {
  return [beginHandshake(Buffer.alloc(HANDSHAKE_END_BYTES, 3), schema), Buffer.alloc(HANDSHAKE_END_BYTES)];
}

function connect(): Buffer[] {
  const fields = { app: 'live', tcUrl: 'rtmp://live.example.com/live', flashVer: 'FMLE/3.0', fourCcList: ['hvc1'] };
  return [writeMessage(command(0, 'connect', 1, fields), 3, 128)];
}

function command(streamId: number, ...values: AmfValue[]): RtmpMessage {
  return { type: MESSAGE_TYPE.command, timestamp: 0, streamId, payload: encodeAmf0(...values) };
}

type Random = (below: number) => number;

/** One to four changes, mostly behind the handshake: without it nothing of the rest is looked at. */
function mutate(pieces: readonly Buffer[], random: Random): Buffer[] {
  const list = [...pieces];
  for (let changes = 1 + random(4); changes > 0; changes--) {
    const from = random(20) === 0 ? 0 : 2;
    const at = from + random(list.length - from);
    const piece = Buffer.from(list[at] ?? Buffer.alloc(0));
    switch (random(7)) {
      case 0: // another byte, in a header oftener than elsewhere
        if (piece.length > 0)
          piece.writeUInt8(random(256), random(random(2) === 0 ? Math.min(12, piece.length) : piece.length));
        list[at] = piece;
        break;
      case 1:
        list[at] = piece.subarray(0, random(piece.length + 1));
        break;
      case 2:
        list.splice(at, 1);
        break;
      case 3:
        list.splice(at, 0, piece);
        break;
      case 4: {
        const other = random(list.length);
        list[at] = list[other] ?? piece;
        list[other] = piece;
        break;
      }
      case 5:
        list.splice(at, 0, noise(random(40), random));
        break;
      default: // a length or timestamp of the largest kind
        if (piece.length > 8) piece.fill(0xff, 1 + random(6), 7);
        list[at] = piece;
    }
  }
  return list;
}

function noise(size: number, random: Random): Buffer {
  return Buffer.from(Array.from({ length: size }, () => random(256)));
}

function split(bytes: Buffer, random: Random): Buffer[] {
  const sizes = [3, 40, 1500, 70_000];
  const most = sizes[random(sizes.length)] ?? 1500;
  const list: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    // The handshake in few pieces: it is not what is tried here.
    const size = at < 3073 ? 3073 : 1 + random(most);
    list.push(bytes.subarray(at, at + size));
    at += size;
  }
  return list;
}

/** xorshift32: the same numbers for the same seed. */
function createRandom(seed: number): Random {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
