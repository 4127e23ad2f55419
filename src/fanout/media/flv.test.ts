import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FlvError, FlvReader, flvHeader, writeFlvTag } from './flv.ts';

const HEADER = flvHeader({ hasAudio: true, hasVideo: true });

test('a tag has the layout of the FLV specification', () => {
  const tag = writeFlvTag({ kind: 'video', timestampMs: 0x12345678, data: Buffer.from('1701aabb', 'hex') });
  assert.equal(tag.toString('hex'), `09000004${'345678'}12000000${'1701aabb'}0000000f`);
  assert.equal(flvHeader({ hasAudio: false, hasVideo: true }).toString('hex'), '464c5601010000000900000000');
  assert.equal(HEADER[4], 5);
});

test('messages are read as they were written, however the bytes are cut', () => {
  const fields = {
    kind: fc.constantFrom('audio' as const, 'video' as const, 'data' as const),
    timestampMs: fc.nat({ max: 2 ** 32 - 1 }),
    data: fc.uint8Array({ minLength: 1, maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  };
  const message = fc.record(fields, { noNullPrototype: true });
  const cuts = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 10 }), cuts, (messages, lengths) => {
      const bytes = Buffer.concat([HEADER, ...messages.map(writeFlvTag)]);
      assert.deepEqual(readInPieces(bytes, lengths), messages);
    }),
    { seed: 1, numRuns: 500 },
  );
});

test('a timestamp beyond 32 bits wraps', () => {
  const tag = writeFlvTag({ kind: 'audio', timestampMs: 2 ** 32 + 5, data: Buffer.from([0xaf, 1, 2]) });
  assert.equal(new FlvReader().push(Buffer.concat([HEADER, tag]))[0]?.timestampMs, 5);
});

test('a longer file header, empty tags and tags of unknown types are skipped', () => {
  const header = Buffer.concat([HEADER.subarray(0, 9), Buffer.alloc(3), Buffer.alloc(4)]);
  header.writeUInt32BE(12, 5);
  const unknown = writeFlvTag({ kind: 'data', timestampMs: 0, data: Buffer.from('x') });
  unknown[0] = 15;
  const empty = writeFlvTag({ kind: 'audio', timestampMs: 0, data: Buffer.alloc(0) });
  const good = { kind: 'audio' as const, timestampMs: 7, data: Buffer.from([0xaf, 1, 2]) };
  assert.deepEqual(new FlvReader().push(Buffer.concat([header, unknown, empty, writeFlvTag(good)])), [good]);
});

test('bytes that are not FLV, too large or encrypted are an error that says so', () => {
  const large = writeFlvTag({ kind: 'video', timestampMs: 0, data: Buffer.alloc(101) });
  const encrypted = Buffer.from(large);
  encrypted[0] = 0x29;
  const longHeader = Buffer.from(HEADER);
  longHeader.writeUInt32BE(65, 5);
  const rows: [name: string, bytes: Buffer, reason: FlvError['reason']][] = [
    ['HTML', Buffer.from('<!doctype html>'), 'notFlv'],
    ['another version', Buffer.from('464c5602050000000900000000', 'hex'), 'notFlv'],
    ['an endless header', longHeader, 'notFlv'],
    // Refused by its header: the body has not come.
    ['a large tag', Buffer.concat([HEADER, large.subarray(0, 11)]), 'tagTooLarge'],
    ['an encrypted tag', Buffer.concat([HEADER, encrypted]), 'encrypted'],
  ];
  for (const [name, bytes, reason] of rows) {
    const read = () => new FlvReader({ maxTagBytes: 100 }).push(bytes);
    assert.throws(read, (error) => error instanceof FlvError && error.reason === reason, name);
  }
});

function readInPieces(bytes: Buffer, lengths: readonly number[]): unknown[] {
  const reader = new FlvReader();
  const read: unknown[] = [];
  for (let at = 0, cut = 0; at < bytes.length; cut++) {
    const end = at + (lengths[cut % lengths.length] ?? 1);
    read.push(...reader.push(bytes.subarray(at, end)));
    at = end;
  }
  return read;
}
