import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWriteBuffers } from './write-buffers.ts';

test('memory is reused once it was released, never before, and is as long as requested', () => {
  const buffers = createWriteBuffers();
  for (const sizeBytes of [10_000, 32 * 1024, 32 * 1024 + 1, 130_000, 1_000_000]) {
    const [one, other] = [buffers.take(sizeBytes), buffers.take(sizeBytes)];
    assert.deepEqual([one.length, other.length], [sizeBytes, sizeBytes]);
    one.fill(1);
    other.fill(2);
    assert.ok(one.every((byte) => byte === 1));
    buffers.giveBack(one);
    const isKept = sizeBytes < 1_000_000;
    assert.equal(buffers.take(sizeBytes).buffer === one.buffer, isKept, `${sizeBytes}`);
    assert.ok(other.every((byte) => byte === 2));
  }
});
