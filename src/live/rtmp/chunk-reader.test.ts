import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ChunkError, ChunkReader, LIMITS_AFTER } from './chunk-reader.ts';
import { writeMessage } from './chunk-writer.ts';
import { controlMessage, type RtmpMessage } from './messages.ts';

/** Timestamp, type, stream and payload of each message. */
type Row = readonly [number, number, number, string];
const SET_SIZE_3 = '02 000000 000004 01 00000000 00000003';

const HEADERS: readonly (readonly [what: string, hex: string, messages: readonly Row[]])[] = [
  ['a chunk stream of two bytes', '00 05 000007 000001 08 01000000 aa', [[7, 8, 1, 'aa']]],
  ['a chunk stream of three bytes', '01 05 01 000007 000001 08 01000000 aa', [[7, 8, 1, 'aa']]],
  [
    'one chunk stream whose number is written in two ways',
    '00 00 000007 000001 08 01000000 aa  c1 00 00 bb',
    [
      [7, 8, 1, 'aa'],
      [14, 8, 1, 'bb'],
    ],
  ],
  ['a message without a payload', '04 000007 000000 08 01000000', [[7, 8, 1, '']]],
  ['a first chunk of type 1', '44 000007 000001 08 aa', [[7, 8, 0, 'aa']]],
  [
    'deltas of types 1, 2 and 3, the last repeated',
    '04 000064 000001 08 01000000 aa  44 00000a 000002 09 bbbb  84 000005 cccc  c4 dddd',
    [
      [100, 8, 1, 'aa'],
      [110, 9, 1, 'bbbb'],
      [115, 9, 1, 'cccc'],
      [120, 9, 1, 'dddd'],
    ],
  ],
  [
    'a type 3 behind a type 0, whose timestamp is the delta',
    '04 000014 000001 08 01000000 aa  c4 bb',
    [
      [20, 8, 1, 'aa'],
      [40, 8, 1, 'bb'],
    ],
  ],
  [
    'a timestamp that wraps',
    '04 ffffff 000001 08 01000000 ffffffff aa  84 000002 bb',
    [
      [0xffffffff, 8, 1, 'aa'],
      [1, 8, 1, 'bb'],
    ],
  ],
  [
    'an extended timestamp that type 3 repeats',
    `${SET_SIZE_3} 04 ffffff 000007 09 01000000 01000000 aabbcc  c4 01000000 ddeeff  c4 01000000 00`,
    [[0x1000000, 9, 1, 'aabbccddeeff00']],
  ],
  [
    'an extended timestamp that type 3 leaves out',
    `${SET_SIZE_3} 04 ffffff 000007 09 01000000 01000000 aabbcc  c4 ddeeff  c4 00`,
    [[0x1000000, 9, 1, 'aabbccddeeff00']],
  ],
  [
    'messages behind one that left it out, which leave it out too',
    `${SET_SIZE_3} 04 ffffff 000006 09 01000000 01000000 aabbcc  c4 ddeeff  c4 010203 c4 040506`,
    [
      [0x1000000, 9, 1, 'aabbccddeeff'],
      [0x2000000, 9, 1, '010203040506'],
    ],
  ],
  [
    'an extended delta',
    '04 000001 000001 08 01000000 aa  44 ffffff 000001 08 01000000 bb  c4 01000000 cc',
    [
      [1, 8, 1, 'aa'],
      [0x1000001, 8, 1, 'bb'],
      [0x2000001, 8, 1, 'cc'],
    ],
  ],
  [
    'an abort, behind which the message begins anew',
    `${SET_SIZE_3} 04 000001 000004 08 01000000 aabbcc  02 000000 000004 02 00000000 000000  c2 04  04 000002 000001 08 01000000 dd`,
    [[2, 8, 1, 'dd']],
  ],
  [
    'a header within a message, which begins another',
    `${SET_SIZE_3} 04 000001 000004 08 01000000 aabbcc  04 000002 000001 08 01000000 dd`,
    [[2, 8, 1, 'dd']],
  ],
  [
    'a chunk size that changes within a message',
    `04 000001 000082 08 01000000 ${'aa'.repeat(128)} ${SET_SIZE_3} c4 bbbb`,
    [[1, 8, 1, `${'aa'.repeat(128)}bbbb`]],
  ],
  ['an abort of a chunk stream that has nothing', '02 000000 000004 02 00000000 00000009', []],
];

const BAD: readonly (readonly [what: string, hex: string])[] = [
  ['a chunk stream that begins without a header', 'c4'],
  ['one that begins with a delta', '84 000001'],
  ['a chunk size of zero', '02 000000 000004 01 00000000 00000000'],
  ['a chunk size with the highest bit', '02 000000 000004 01 00000000 80000001'],
  ['a chunk size of three bytes', '02 000000 000003 01 00000000 000000'],
  ['a message of more than 64 KiB', '04 000000 010001 14 00000000'],
  [
    'a ninth chunk stream',
    [3, 4, 5, 6, 7, 8, 9, 10, 11].map((id) => `0${id.toString(16)} 000000 000001 14 00000000 00`).join(' '),
  ],
  [
    'begun messages of more than 128 KiB',
    [4, 5, 6].map((id) => `0${id} 000000 00ffff 14 00000000 ${'00'.repeat(128)}`).join(' '),
  ],
];

describe('the reader of chunks', () => {
  test("the reader of chunks reads the writer's output, in pieces of any size", () => {
    const messages = fc.array(
      plainRecord({
        type: fc.constantFrom(8, 9, 18, 20),
        timestamp: fc.oneof(fc.nat(1000), fc.constantFrom(0xfffffe, 0xffffff, 0x1000000, 0xffffffff)),
        streamId: fc.nat(3),
        payload: fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
      }),
      { maxLength: 8 },
    );
    const property = fc.property(
      messages,
      fc.integer({ min: 1, max: 200 }),
      anySplits(),
      (sent, chunkBytes, splits) => {
        const bytes = [
          writeMessage(controlMessage('setChunkSize', chunkBytes), 2, 128),
          ...sent.map((message) => writeMessage(message, 4, chunkBytes)),
        ];
        assert.deepEqual(readAll(pieces(Buffer.concat(bytes), splits)), sent);
      },
    );
    fc.assert(property, { numRuns: 500, seed: 2 });
  });

  test('the reader of chunks reassembles messages whose chunks alternate, whatever their headers leave out', () => {
    const property = fc.property(anyInterleaving(), anySplits(), ({ bytes, messages }, splits) => {
      assert.deepEqual(readAll(pieces(bytes, splits)), messages);
    });
    fc.assert(property, { numRuns: 500, seed: 3 });
  });

  for (const [what, hex, messages] of HEADERS)
    test(`the reader of chunks reads ${what}`, () => {
      const told = readAll([bytesOf(hex)]).map(({ timestamp, type, streamId, payload }) => [
        timestamp,
        type,
        streamId,
        payload.toString('hex'),
      ]);
      assert.deepEqual(told, messages);
      assert.deepEqual(readAll([...bytesOf(hex)].map((byte) => Buffer.of(byte))), readAll([bytesOf(hex)]));
    });

  for (const [what, hex] of BAD)
    test(`the reader of chunks refuses ${what}`, () => {
      const reader = new ChunkReader();
      assert.throws(() => drain(reader, bytesOf(hex)), ChunkError);
    });

  test('the reader of chunks allows an accepted publisher more memory, and not all of it at once', () => {
    const reader = new ChunkReader();
    reader.limits = LIMITS_AFTER;
    drain(reader, bytesOf('04 000000 7fffff 09 01000000'.replace('7fffff', '800000')));
    drain(reader, Buffer.alloc(128));
    assert.throws(() => drain(new ChunkReader(), bytesOf('04 000000 010001 09 01000000')), /at most 65536/);
    // The first is 8 MiB, of which one chunk has come.
    drain(reader, bytesOf(`05 000000 7fff00 09 01000000 ${'00'.repeat(128)}`));
    assert.throws(() => drain(reader, bytesOf('06 000000 000101 09 01000000')), /have begun and not ended/);
  });
});

/** Generates records with a prototype, like the reader's messages. */
function plainRecord<T>(fields: { [Key in keyof T]: fc.Arbitrary<T[Key]> }): fc.Arbitrary<T> {
  return fc.record(fields, { noNullPrototype: true });
}

/** Chunks of several chunk streams in any order, each with the shortest header that says enough, or a longer one. */
function anyInterleaving(): fc.Arbitrary<{ bytes: Buffer; messages: RtmpMessage[] }> {
  const message = fc.record({
    lane: fc.constantFrom(3, 4, 70, 400),
    type: fc.constantFrom(8, 9),
    deltaMs: fc.constantFrom(0, 20, 40, 0xffffff, 0x1000000),
    payload: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    isFull: fc.boolean(),
  });
  return fc.tuple(fc.array(message, { maxLength: 12 }), fc.array(fc.nat(3), { maxLength: 60 })).map(([list, order]) => {
    const lanes = new Map<number, { chunks: Buffer[]; ends: RtmpMessage[] }>();
    for (const lane of [3, 4, 70, 400])
      lanes.set(
        lane,
        chunksOf(
          lane,
          list.filter((one) => one.lane === lane),
        ),
      );
    const bytes: Buffer[] = [];
    const messages: RtmpMessage[] = [];
    const queues = [...lanes.values()];
    for (const turn of [...order, ...Array.from({ length: 200 }, (_, index) => index % 4)]) {
      const chunk = queues[turn]?.chunks.shift();
      const end = queues[turn]?.ends.shift();
      if (chunk !== undefined) bytes.push(chunk);
      if (end !== undefined && end.type !== UNFINISHED) messages.push(end);
    }
    return { bytes: Buffer.concat(bytes), messages };
  });
}

const UNFINISHED = -1;
const CHUNK_BYTES = 128;

interface Spoken {
  readonly type: number;
  readonly deltaMs: number;
  readonly payload: Buffer;
  readonly isFull: boolean;
}

/** `ends`: for each chunk the message that it ends, or one of type `UNFINISHED`. */
function chunksOf(lane: number, list: readonly Spoken[]): { chunks: Buffer[]; ends: RtmpMessage[] } {
  const chunks: Buffer[] = [];
  const ends: RtmpMessage[] = [];
  let timestamp = 0;
  let previous: { length: number; type: number; time: number } | undefined;
  for (const { type, deltaMs, payload, isFull } of list) {
    timestamp = (timestamp + deltaMs) >>> 0;
    const length = payload.length;
    const kind = isFull || previous === undefined ? 0 : shortest({ length, type, time: deltaMs }, previous);
    const time = kind === 0 ? timestamp : deltaMs;
    const extended = time >= 0xffffff ? uint(time, 4) : Buffer.alloc(0);
    const header = Buffer.concat([uint(Math.min(time, 0xffffff), 3), uint(length, 3), Buffer.of(type, 1, 0, 0, 0)]);
    const fixed = header.subarray(0, [11, 7, 3, 0][kind]);
    previous = { length, type, time };
    const first = Buffer.concat([basic(kind, lane), fixed, extended, payload.subarray(0, CHUNK_BYTES)]);
    chunks.push(first);
    for (let at = CHUNK_BYTES; at < length; at += CHUNK_BYTES)
      chunks.push(Buffer.concat([basic(3, lane), extended, payload.subarray(at, at + CHUNK_BYTES)]));
    const whole = { type, timestamp, streamId: 1, payload };
    while (ends.length < chunks.length - 1) ends.push({ ...whole, type: UNFINISHED });
    ends.push(whole);
  }
  return { chunks, ends };
}

type Header = { readonly length: number; readonly type: number; readonly time: number };

function shortest(next: Header, previous: Header): 1 | 2 | 3 {
  if (next.length !== previous.length || next.type !== previous.type) return 1;
  return next.time === previous.time ? 3 : 2;
}

function basic(kind: number, lane: number): Buffer {
  if (lane < 64) return Buffer.of((kind << 6) | lane);
  const rest = lane - 64;
  return rest < 256 ? Buffer.of(kind << 6, rest) : Buffer.of((kind << 6) | 1, rest & 0xff, rest >> 8);
}

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}

function anySplits(): fc.Arbitrary<number[]> {
  return fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 20 });
}

/** The sizes by turns. */
function pieces(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const list: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    list.push(bytes.subarray(at, at + size));
    at += size;
  }
  return list;
}

function readAll(list: readonly Buffer[]): RtmpMessage[] {
  const reader = new ChunkReader();
  reader.limits = LIMITS_AFTER;
  return list.flatMap((bytes) => drain(reader, bytes));
}

function drain(reader: ChunkReader, bytes: Buffer): RtmpMessage[] {
  reader.push(bytes);
  const messages: RtmpMessage[] = [];
  for (let message = reader.next(); message !== undefined; message = reader.next()) messages.push(message);
  return messages;
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex');
}
