import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RecycledBuffers } from '#lib/recycled-buffers.ts';
import { UnreadBytes } from './unread-bytes.ts';

const KIB = 1024;

/** Lends the waiting bytes, and returns a copy of them. */
function takeAll(unread: UnreadBytes): Buffer {
  let taken = Buffer.alloc(0);
  unread.lend((bytes) => {
    taken = Buffer.from(bytes);
  });
  return taken;
}

describe('bytes that wait to be read', () => {
  test('bytes are lent in the order in which they arrived, however many there are', () => {
    const unread = new UnreadBytes(new RecycledBuffers(64 * KIB, 4));
    const lent = Buffer.alloc(64 * KIB);
    const given: Buffer[] = [];
    for (const [index, size] of [40 * KIB, 64 * KIB, 1, 70].entries()) {
      lent.fill(index);
      given.push(Buffer.from(lent.subarray(0, size)));
      unread.add(lent.subarray(0, size));
    }
    assert.equal(unread.isEmpty, false);
    assert.ok(takeAll(unread).equals(Buffer.concat(given)));
    assert.equal(unread.isEmpty, true);
  });

  test('bytes that are added while others are lent wait behind them, and change none of them', () => {
    const unread = new UnreadBytes(new RecycledBuffers(64 * KIB, 4));
    const first = Buffer.alloc(32 * KIB, 'a');
    unread.add(first);
    unread.lend((bytes) => {
      unread.add(Buffer.alloc(32 * KIB, 'b'));
      assert.ok(bytes.equals(first));
      unread.clear();
      unread.add(Buffer.alloc(32 * KIB, 'c'));
      assert.ok(bytes.equals(first));
    });
    assert.ok(takeAll(unread).equals(Buffer.alloc(32 * KIB, 'c')));
  });

  test('memory is used again after bytes were lent or dropped, never while they wait', () => {
    const buffers = new RecycledBuffers(64 * KIB, 4);
    const memory = new Set<ArrayBufferLike>();
    const [one, other] = [new UnreadBytes(buffers), new UnreadBytes(buffers)];
    for (let i = 0; i < 10; i++) {
      one.add(Buffer.alloc(32 * KIB, 'a'));
      other.add(Buffer.alloc(32 * KIB, 'b'));
      one.lend((bytes) => {
        memory.add(bytes.buffer);
        assert.ok(bytes.equals(Buffer.alloc(32 * KIB, 'a')));
      });
      other.lend((bytes) => {
        memory.add(bytes.buffer);
        assert.ok(bytes.equals(Buffer.alloc(32 * KIB, 'b')));
      });
      one.add(Buffer.alloc(32 * KIB));
      one.clear();
    }
    assert.ok(memory.size <= 2, `${memory.size} buffers`);
  });

  test('few bytes do not keep a whole buffer', () => {
    const unread = new UnreadBytes(new RecycledBuffers(64 * KIB, 4));
    unread.add(Buffer.from('few'));
    unread.lend((bytes) => assert.equal(bytes.buffer.byteLength, 3));
  });
});
