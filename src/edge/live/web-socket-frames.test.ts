import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientFrames, dataHeader } from './web-socket-frames.ts';

test('the header of a message has its length in the shortest form', () => {
  assert.deepEqual([...dataHeader(125)], [0x82, 125]);
  assert.deepEqual([...dataHeader(126)], [0x82, 126, 0, 126]);
  assert.deepEqual([...dataHeader(65_536)], [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
});

/** A client's frame, masked by zeros. */
const frame = (first: number, payload: string) =>
  Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), Buffer.from(payload)]);

test('control frames are found between data, in pieces of any size', () => {
  const text = Buffer.concat([Buffer.from([0x81, 0xfe, 1, 0, 1, 2, 3, 4]), Buffer.alloc(256, 'x')]);
  const all = Buffer.concat([
    text,
    frame(0x89, 'one'),
    frame(0x8a, ''),
    text,
    frame(0x89, 'two'),
    frame(0x88, ''),
    text,
  ]);
  for (const size of [1, 2, 7, 300, all.length]) {
    const frames = new ClientFrames();
    const told: string[] = [];
    for (let at = 0; at < all.length; at += size) {
      for (const one of frames.push(all.subarray(at, at + size)))
        told.push(one.kind === 'ping' ? `${one.payload}` : one.kind);
    }
    assert.deepEqual(told, ['one', 'two', 'close'], `pieces of ${size}`);
  }
});

test('a flood of pings in one piece is not copied for each of them', () => {
  const count = 200_000;
  const flood = Buffer.concat(Array<Buffer>(count).fill(frame(0x89, '')));
  assert.equal(new ClientFrames().push(flood).length, count);
});

test('frames that no client may send are malformed, once', () => {
  const rows = {
    'not masked': [0x82, 1, 0],
    'a reserved bit': [0xc2, 0x80, 0, 0, 0, 0],
    'a control frame that is too long': [0x89, 0xfe, 0, 126],
    'longer than any number': [0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  };
  for (const [what, bytes] of Object.entries(rows)) {
    const frames = new ClientFrames();
    assert.deepEqual(frames.push(Buffer.from(bytes)), [{ kind: 'malformed' }], what);
    assert.deepEqual(frames.push(Buffer.from(bytes)), [], what);
  }
});
