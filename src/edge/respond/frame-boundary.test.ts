import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameBoundary } from './frame-boundary.ts';

const OPCODES = { text: 0x81, close: 0x88 };

/** A frame with a payload of this size. */
function frame(opcode: number, bytes: number, isMasked: boolean): Buffer {
  const mask = isMasked ? 0x80 : 0;
  const length =
    bytes < 126
      ? [bytes | mask]
      : bytes < 65_536
        ? [126 | mask, bytes >> 8, bytes & 0xff]
        : [127 | mask, 0, 0, 0, 0, 0, bytes >> 16, (bytes >> 8) & 0xff, bytes & 0xff];
  // The payload looks like headers.
  return Buffer.concat([Buffer.from([opcode, ...length]), Buffer.alloc(bytes + (isMasked ? 4 : 0), 0x81)]);
}

test('a connection is between frames exactly where one ends, however the bytes are divided', () => {
  const frames = fc.array(
    fc.tuple(fc.constantFrom(0, 1, 125, 126, 127, 65_535, 65_536, 70_000), fc.boolean(), fc.nat(20)),
    { minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(frames, (wanted) => {
      const boundary = new FrameBoundary();
      for (const [bytes, isMasked, cut] of wanted) {
        const text = frame(OPCODES.text, bytes, isMasked);
        const at = Math.max(1, Math.min(cut, text.length - 1));
        boundary.pass(text.subarray(0, at));
        assert.equal(boundary.isBetweenFrames, false);
        boundary.pass(text.subarray(at));
        assert.equal(boundary.isBetweenFrames, true);
      }
      boundary.pass(Buffer.concat(wanted.map(([bytes, isMasked]) => frame(OPCODES.text, bytes, isMasked))));
      assert.equal(boundary.isBetweenFrames, true);
      boundary.pass(frame(OPCODES.close, 2, true));
      assert.equal(boundary.isBetweenFrames, false, 'nothing follows a close frame');
    }),
    { seed: 6455, numRuns: 200 },
  );
});
