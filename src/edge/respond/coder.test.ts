import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import type { ContentCoding } from '#http/content-coding.ts';
import { createCoder, encode, type InTurn } from './coder.ts';

const DECODE = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync } as const;
const CODINGS: readonly ContentCoding[] = ['br', 'gzip', 'zstd'];
const atOnce: InTurn = (work) => work();

async function* from(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

async function collect(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of source) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Bodies of some size from little text: random bytes, or lines that repeat. */
const bodies = fc.array(
  fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.nat(400)).map(([bytes, times]) => {
    return Buffer.concat(Array.from({ length: times }, () => Buffer.from(bytes)));
  }),
  { maxLength: 8 },
);

describe('coders', () => {
  test('the coded body decodes to the source, whatever the bytes and the chunks are', async () => {
    const property = fc.asyncProperty(bodies, fc.constantFrom(...CODINGS), async (chunks, coding) => {
      const coded = await collect(encode(from(chunks), createCoder(coding), atOnce));
      assert.ok(DECODE[coding](coded).equals(Buffer.concat(chunks)));
    });
    await fc.assert(property, { numRuns: 60 });
  });

  for (const coding of CODINGS) {
    test(`${coding} codes a chunk larger than a turn`, async () => {
      const body = Buffer.alloc(1_000_000, 'all work and no play ');
      const coded = await collect(encode(from([body]), createCoder(coding), atOnce));
      assert.ok(DECODE[coding](coded).equals(body));
      assert.ok(coded.length < 20_000);
    });

    test(`${coding} writes the bytes before a pause of the source in the pause`, { timeout: 30_000 }, async () => {
      const rest = Promise.withResolvers<void>();
      const source = async function* () {
        yield Buffer.from('the head of the page');
        await rest.promise;
        yield Buffer.from(' and its foot');
      };
      const coded = encode(source(), createCoder(coding), atOnce);
      const first = await coded.next();
      assert.ok(first.value.length > 0);
      rest.resolve();
      const all = Buffer.concat([first.value, await collect(coded)]);
      assert.equal(DECODE[coding](all).toString(), 'the head of the page and its foot');
    });

    test(`${coding} fails its reader if the source fails, and writes none of the held bytes`, async () => {
      const source = async function* () {
        yield Buffer.from('half a page');
        throw new Error('cut');
      };
      await assert.rejects(collect(encode(source(), createCoder(coding), atOnce)), /cut/);
    });

    test(`${coding} may be closed while it works`, async () => {
      const coder = createCoder(coding);
      const work = coder.add(Buffer.alloc(60_000, 'x'));
      coder.close();
      await work.catch(() => undefined); // either is right; neither may hang
      await assert.rejects(coder.add(Buffer.from('more')));
      await assert.rejects(coder.end());
      coder.close();
    });
  }

  test('a source whose reader leaves early is ended', async () => {
    let isEnded = false;
    const source = async function* () {
      try {
        for (;;) yield Buffer.alloc(100_000, 'x');
      } finally {
        isEnded = true;
      }
    };
    for await (const _ of encode(source(), createCoder('gzip'), atOnce)) break;
    assert.ok(isEnded);
  });
});
