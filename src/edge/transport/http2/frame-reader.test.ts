import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameReader } from './frame-reader.ts';
import { FrameType, formatFrame, MAX_PAYLOAD_BYTES } from './frames.ts';

test('frames are read as they were sent, however their bytes are cut', () => {
  const frame = fc
    .tuple(fc.nat({ max: 255 }), fc.nat({ max: 255 }), fc.nat({ max: 2 ** 31 - 1 }), fc.uint8Array({ maxLength: 50 }))
    .map(([type, flags, streamId, payload]) => ({ type, flags, streamId, payload }));
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 10 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      (frames, cuts) => {
        const bytes = Buffer.concat(frames.map(({ payload, ...head }) => formatFrame(head, payload)));
        const reader = new FrameReader();
        const read: unknown[] = [];
        for (let at = 0, cut = 0; at < bytes.length; cut++) {
          const length = cuts[cut % cuts.length] ?? 1;
          reader.push(bytes.subarray(at, at + length));
          at += length;
          while (reader.next() === 'frame') {
            const { type, flags, streamId, start, end } = reader;
            read.push({ type, flags, streamId, payload: new Uint8Array(reader.bytes.subarray(start, end)) });
          }
        }
        assert.deepEqual(read, frames);
      },
    ),
    { seed: 1, numRuns: 500 },
  );
});

test('the largest frame is read, a larger one is refused as soon as its head is there', () => {
  const largest = formatFrame({ type: FrameType.data, flags: 0, streamId: 1 }, Buffer.alloc(MAX_PAYLOAD_BYTES));
  const reader = new FrameReader();
  reader.push(largest.subarray(0, 5));
  assert.equal(reader.next(), 'more');
  reader.push(largest.subarray(5));
  assert.equal(reader.next(), 'frame');
  assert.equal(reader.end - reader.start, MAX_PAYLOAD_BYTES);
  const larger = Buffer.from(largest.subarray(0, 9));
  larger.writeUIntBE(MAX_PAYLOAD_BYTES + 1, 0, 3);
  for (const cut of [4, 9]) {
    const other = new FrameReader();
    other.push(larger.subarray(0, cut));
    if (cut < 9) assert.equal(other.next(), 'more');
    if (cut < 9) other.push(larger.subarray(cut));
    assert.equal(other.next(), 'tooLarge');
  }
});
