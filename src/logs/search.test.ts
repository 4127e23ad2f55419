import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { searchPart } from './search.ts';
import type { BlobKey } from './store/blob-store.ts';

/** A store of one blob, which tells whether its reading was ended. */
function storeOf(bytes: Buffer) {
  const sources: Readable[] = [];
  return {
    sources,
    read: async () => {
      const source = Readable.from([bytes.subarray(0, 100), bytes.subarray(100)]);
      sources.push(source);
      return source;
    },
  };
}

const PART = { key: '1/2026-01-31/12.e.f.log.gz' as BlobKey, bytes: 0, matches: () => true }; // only passed on
const BOUNDS = { maxLines: 10, maxBytes: 1e9, signal: new AbortController().signal };

test('what unpacks to more than the bound is read no further', async () => {
  const blobs = storeOf(gzipSync('a line of a bomb\n'.repeat(4_000_000)));
  const found = await searchPart(blobs, PART, { ...BOUNDS, maxBytes: 1_000_000 });
  assert.ok(found.readBytes >= 1_000_000 && found.readBytes < 1_200_000, String(found.readBytes));
  assert.deepEqual([found.isCut, found.lines.length], [true, 10]);
  assert.equal(blobs.sources[0]?.destroyed, true);
});

test('a line without an end is given up, and the last line of a file needs none', async () => {
  const endless = await searchPart(storeOf(gzipSync('x'.repeat(1_000_000))), PART, BOUNDS);
  assert.deepEqual([endless.lines, endless.isCut], [[], true]);
  const whole = await searchPart(storeOf(gzipSync('a\nb\nc')), PART, { ...BOUNDS, maxLines: 2 });
  assert.deepEqual([whole.lines, whole.isCut, whole.readBytes], [['b', 'c'], true, 5]);
});

test('a search that has taken too long ends with what it has', async () => {
  const stopped = AbortSignal.abort();
  const found = await searchPart(storeOf(gzipSync('a\nb\n')), PART, { ...BOUNDS, signal: stopped });
  assert.deepEqual([found.lines, found.isCut], [['a', 'b'], true]);
});
