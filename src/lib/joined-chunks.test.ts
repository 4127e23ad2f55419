import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { appendChunk, PagedCopies } from './joined-chunks.ts';

describe('chunks that are kept', () => {
  const rows = [
    ['of one byte', () => 1, 40],
    ['of an event each', () => 200, 40],
    ['of mixed sizes', (i: number) => [1, 3_000, 20_000, 17][i % 4] ?? 1, 200],
  ] as const;
  for (const [what, sizeOf, maxPieces] of rows) {
    test(`chunks ${what} become few pieces of the same bytes`, () => {
      const copies = new PagedCopies();
      const kept: Buffer[] = [];
      const given: Buffer[] = [];
      const lent = Buffer.alloc(32 * 1024);
      for (let i = 0, sum = 0; sum < 1024 * 1024; i++) {
        const chunk = lent.subarray(0, sizeOf(i)).fill(i);
        given.push(Buffer.from(chunk));
        appendChunk(kept, copies.copy(chunk));
        sum += chunk.length;
      }
      assert.ok(Buffer.concat(kept).equals(Buffer.concat(given)));
      assert.ok(kept.length <= maxPieces, `${kept.length} pieces`);
    });
  }

  test('pages take no more memory than the chunks, but for the first KiB', () => {
    const copies = new PagedCopies();
    const memory = new Set<ArrayBufferLike>();
    for (let i = 1; i <= 100_000; i++) {
      memory.add(copies.copy(Buffer.from('x')).buffer);
      const held = [...memory].reduce((sum, { byteLength }) => sum + byteLength, 0);
      assert.ok(held <= 2 * i + 1024, `${held} bytes for ${i}`);
    }
  });

  test('a chunk elsewhere in memory is a piece of its own', () => {
    const bytes = Buffer.from('abcdef');
    const kept: Buffer[] = [];
    const isNew = [
      appendChunk(kept, bytes.subarray(0, 2)),
      appendChunk(kept, bytes.subarray(2, 3)),
      appendChunk(kept, bytes.subarray(4, 6)),
      appendChunk(kept, Buffer.from('g')),
    ];
    assert.deepEqual(
      [isNew, kept.map(String)],
      [
        [true, false, true, true],
        ['abc', 'ef', 'g'],
      ],
    );
  });
});
