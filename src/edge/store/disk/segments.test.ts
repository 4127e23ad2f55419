import assert from 'node:assert/strict';
import { globSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { storeFolder } from '../../../../test/support/edge/store-folder.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import type { KeyHash } from '../key-hash.ts';
import { OpenBodies } from './open-bodies.ts';
import { SWEEP_PARTS } from './place-index.ts';
import { Segments, type SegmentsOptions } from './segments.ts';

const [K, L, M] = ['abc0000000000001', 'abc0000000000002', 'def0000000000003'] as const;
const K7 = '0000000000000007';
const MIB = 2 ** 20;

function open(t: TestContext) {
  const { directory, keep } = storeFolder(t);
  const problems: unknown[] = [];
  const openSegments = (changes: Partial<SegmentsOptions> = {}) => {
    const segments = new Segments({
      folder: directory,
      segmentBytes: MIB,
      copyAboveBytes: 100 * MIB,
      readFirstMs: 10_000,
      files: new OpenBodies(),
      onProblem: (problem) => void problems.push(problem),
      ...changes,
    });
    keep({ [Symbol.asyncDispose]: () => segments.close() });
    return segments;
  };
  return { directory, problems, openSegments };
}

function put(segments: Segments, hash: KeyHash, text: string): void {
  assert.ok(segments.append(hash, [Buffer.from(text)], 0));
}

async function textOf(segments: Segments, hash: KeyHash): Promise<string | undefined> {
  const located = segments.find(hash);
  return located === undefined ? undefined : (await segments.read(located))?.toString();
}

let now = 0;
/** Advances by a millisecond at each call. */
function follow(segments: Segments): void {
  now += 1;
  segments.follow(now);
}

/** Separates the times of units by workers that do not know of each other yet. */
function nextMillisecond(): void {
  for (const begun = Date.now(); Date.now() === begun; );
}

describe('segments', () => {
  test('entries are found at once, and later in the file, the last one of each key', async (t) => {
    const { openSegments } = open(t);
    const segments = openSegments();
    for (const [hash, text] of [
      [K, 'one'],
      [L, 'other'],
      [K, 'two'],
    ] as const) {
      put(segments, hash, text);
      assert.equal(await textOf(segments, hash), text);
    }
    await segments.flush();
    assert.deepEqual(
      [await textOf(segments, K), await textOf(segments, L), await textOf(segments, M)],
      ['two', 'other', undefined],
    );
    assert.equal(segments.entries, 2);
  });

  test('nothing is written for each entry: many that arrive together are one unit of one file', async (t) => {
    const { directory, openSegments } = open(t);
    const segments = openSegments();
    for (let i = 0; i < 500; i++) put(segments, i.toString(16).padStart(16, '0'), 'x'.repeat(1_000));
    assert.ok(globSync(join(directory, '*.segment')).every((path) => statSync(path).size === 0));
    await segments.flush();
    const [file = '', ...more] = globSync(join(directory, '*.segment'));
    assert.deepEqual([more.length, statSync(file).size], [0, 32 + 500 * 1_020]);
  });

  test('an entry is in its file soon, without a flush', async (t) => {
    const { directory, openSegments } = open(t);
    put(openSegments(), K, 'one');
    await eventually('written', () => globSync(join(directory, '*.segment')).some((file) => statSync(file).size > 0));
  });

  test('a segment has its file before its first unit is written, so that the write need not wait for it', async (t) => {
    const { directory, openSegments } = open(t);
    const segments = openSegments();
    t.mock.timers.enable({ apis: ['setTimeout'] }); // nothing is written for its age
    put(segments, K, 'one');
    const isThere = () => globSync(join(directory, '*.segment')).length === 1;
    for (const until = performance.now() + 10_000; !isThere() && performance.now() < until; ) await setImmediate();
    assert.ok(isThere());
    assert.equal(await textOf(segments, K), 'one');
  });

  test('a flush waits for what was appended before it, and for nothing else', async (t) => {
    const { openSegments } = open(t);
    const segments = openSegments();
    put(segments, K, 'one');
    let isFlushed = false;
    void segments.flush().then(() => {
      isFlushed = true;
    });
    for (const until = performance.now() + 10_000; !isFlushed && performance.now() < until; ) {
      if (segments.append(L, [Buffer.from('more')], 0)) void segments.flush();
      await setImmediate();
    }
    assert.ok(isFlushed);
  });

  test('entries that are too large, or for which no room is left in memory, are refused', async (t) => {
    const { openSegments } = open(t);
    const segments = openSegments();
    assert.equal(segments.append(K, [Buffer.alloc(MIB)], 0), false);
    let taken = 0;
    while (segments.append(K, [Buffer.alloc(MIB / 2 + 100)], 0)) taken += 1;
    assert.ok(taken >= 60 && taken <= 66, `${taken}`);
    await segments.flush();
    assert.ok(segments.append(K, [Buffer.alloc(MIB / 2 + 100)], 0));
  });

  test('workers find what others have appended, once it is in the file, and no more what they have removed', async (t) => {
    const { openSegments } = open(t);
    const [a, b] = [openSegments(), openSegments()];
    put(a, K, 'one');
    follow(b);
    assert.equal(b.find(K), undefined);
    await a.flush();
    assert.equal(b.find(K), undefined); // it has not read the folder again
    follow(b);
    assert.equal(await textOf(b, K), 'one');
    put(a, K, 'two');
    await a.flush();
    follow(b);
    assert.equal(await textOf(b, K), 'two');
    assert.ok(a.append(K, [], 0));
    assert.equal(a.find(K), undefined);
    await a.flush();
    follow(b);
    assert.equal(b.find(K), undefined);
    assert.deepEqual([a.entries, b.entries], [0, 0]);
    assert.equal(b.oldest(), undefined); // the other worker appends to it
  });

  test('the entry that was written last counts, whichever worker has written it, and in whatever order entries are read', async (t) => {
    const { openSegments } = open(t);
    const [a, b] = [openSegments(), openSegments()];
    const keys = Array.from({ length: 16 }, (_, i) => i.toString(16).padStart(16, '0'));
    for (const [i, hash] of keys.entries()) {
      const [first, second] = i % 2 === 0 ? [a, b] : [b, a];
      put(first, hash, 'old');
      await first.flush();
      follow(second);
      if (i % 4 > 1) assert.ok(second.append(hash, [], 0));
      else put(second, hash, 'new');
      await second.flush();
    }
    for (const segments of [a, b]) follow(segments);
    for (const segments of [a, b, openSegments(), openSegments({ readFirstMs: 0 })]) {
      await segments.filled();
      for (const [i, hash] of keys.entries())
        assert.equal(await textOf(segments, hash), i % 4 > 1 ? undefined : 'new', `${i}`);
    }
  });

  test("an entry that this worker is about to write is not replaced by another's older one", async (t) => {
    const { openSegments } = open(t);
    const [a, b] = [openSegments(), openSegments()];
    put(b, K, 'old');
    nextMillisecond();
    put(a, K, 'new');
    await b.flush();
    follow(a);
    assert.equal(await textOf(a, K), 'new');
    await a.flush();
    follow(b);
    assert.deepEqual([await textOf(a, K), await textOf(b, K)], ['new', 'new']);
  });

  test('a worker that starts finds what it puts itself, and the rest when all has been read', async (t) => {
    const { openSegments } = open(t);
    const before = openSegments();
    put(before, K, 'old');
    put(before, L, 'other');
    await before.flush();
    const segments = openSegments({ readFirstMs: 0 });
    assert.deepEqual([segments.isFilled, segments.find(K), segments.find(L)], [false, undefined, undefined]);
    put(segments, K, 'new');
    assert.equal(await textOf(segments, K), 'new');
    await segments.filled();
    assert.deepEqual([await textOf(segments, K), await textOf(segments, L)], ['new', 'other']);
  });

  test('a worker that starts takes no entry for the last one before all has been read', async (t) => {
    const { openSegments } = open(t);
    const before = openSegments({ segmentBytes: 1 });
    for (let i = 0; i < 30; i++) {
      put(before, K, `${i}`);
      await before.flush();
    }
    const segments = openSegments({ readFirstMs: 0 });
    while (!segments.isFilled) {
      assert.equal(segments.find(K), undefined);
      await setImmediate();
    }
    assert.equal(await textOf(segments, K), '29');
  });

  test('body files count for the segment of their entry, until another replaces it', async (t) => {
    const { openSegments } = open(t);
    const segments = openSegments();
    assert.ok(segments.append(K, [Buffer.alloc(100)], 10));
    await segments.flush();
    assert.equal(segments.bytes, 11 * 4096);
    put(segments, K, 'small');
    await segments.flush();
    assert.equal(segments.bytes, 4096);
    assert.deepEqual(segments.withFiles(segments.oldest() ?? assert.fail()), []);
  });

  for (const readFirstMs of [10_000, 0]) {
    test(`an entry does not come back when the one that replaced it was removed to make room (read at once for ${readFirstMs} ms)`, async (t) => {
      const { openSegments } = open(t);
      const [a, b] = [openSegments(), openSegments()];
      put(a, K, 'old');
      await a.flush();
      nextMillisecond();
      put(b, K, 'new');
      await b.flush();
      nextMillisecond();
      put(a, L, 'other'); // so that its segment is the later one
      await a.flush();
      const removed = b.find(K)?.segment ?? assert.fail();
      const meanwhile = openSegments({ readFirstMs });
      follow(b); // it reads the older entry after its own
      await b.remove(removed);
      await meanwhile.filled();
      for (const segments of [a, b, meanwhile, openSegments()]) {
        follow(segments);
        assert.equal(await textOf(segments, K), undefined);
        assert.equal(await textOf(segments, L), 'other');
      }
      // The row that hides it stays for as long as the older entry is there, and no longer.
      for (let i = 0; i < 3; i++) {
        const hiding = b.oldest() ?? assert.fail();
        if (hiding.isOwn) await b.remove(hiding);
        assert.equal(await textOf(openSegments(), K), undefined);
      }
    });
  }

  test('a removed segment leaves nothing, its number is given away again, and its bodies do not count', async (t) => {
    const { openSegments } = open(t);
    const segments = openSegments({ segmentBytes: 1 });
    const slots = new Set<number>();
    for (let i = 0; i < 40; i++) {
      assert.ok(segments.append(i.toString(16).padStart(16, '0'), [Buffer.alloc(100)], 10));
      await segments.flush();
      assert.deepEqual([segments.entries, segments.count, segments.bytes], [1, 1, 11 * 4096]);
      const oldest = segments.oldest();
      assert.ok(oldest !== undefined);
      assert.equal(segments.withFiles(oldest).length, 1);
      slots.add(oldest.slot);
      await segments.remove(oldest);
      assert.deepEqual([segments.entries, segments.count, segments.bytes], [0, 0, 0]);
      assert.deepEqual(segments.withFiles(oldest), []);
      for (let parts = 0; parts < SWEEP_PARTS; parts += 64) segments.tick();
    }
    assert.ok(slots.size <= 3, `${slots.size}`);
  });

  test('entries that are used are copied on when there is little room, of those that were used before the oldest', async (t) => {
    const { openSegments } = open(t);
    const segments = openSegments({ segmentBytes: 1, copyAboveBytes: 8 * 4096 });
    const keys = Array.from({ length: 8 }, (_, i) => i.toString(16).padStart(16, '0'));
    const use = async (hash: KeyHash, text = hash) => {
      segments.keep(hash, segments.find(hash) ?? assert.fail(), Buffer.from(text));
      await segments.flush();
    };
    for (const hash of keys) {
      put(segments, hash, hash);
      await segments.flush();
    }
    segments.tick();
    await use(K7);
    assert.equal(segments.find(K7)?.segment.holdsUsed, false); // there is room
    put(segments, K, 'one too many');
    await segments.flush();
    segments.tick();
    for (const hash of keys) {
      const before = segments.find(hash) ?? assert.fail();
      await use(hash);
      segments.keep(hash, before, Buffer.from('what is there no more'));
      assert.deepEqual([segments.find(hash)?.segment.holdsUsed, await textOf(segments, hash)], [true, hash]);
    }
    segments.tick();
    const isOld = () => keys.map((hash) => segments.find(hash)?.segment.isOld);
    assert.deepEqual(isOld(), [true, true, false, false, false, false, false, false]);
    const places = () => keys.map((hash) => segments.find(hash)?.segment.name);
    const before = places();
    for (const hash of keys) await use(hash);
    assert.deepEqual(
      places().map((name, i) => name === before[i]),
      [false, false, true, true, true, true, true, true],
    );
  });

  test('segments of entries that were not used are removed first, down to an eighth of all', async (t) => {
    const { openSegments } = open(t);
    const segments = openSegments({ segmentBytes: 1 });
    for (let i = 0; i < 20; i++) {
      assert.ok(segments.append(i.toString(16).padStart(16, '0'), [Buffer.from('x')], 0, i < 10));
      await segments.flush();
    }
    const removed = [];
    for (let oldest = segments.oldest(); oldest !== undefined; oldest = segments.oldest()) {
      removed.push(oldest.holdsUsed);
      await segments.remove(oldest);
    }
    const order = removed.map((holdsUsed) => (holdsUsed ? 'u' : 'n')).join('');
    assert.equal(order, 'nnnnnnnnnuuuunuuuuuu');
  });

  test('the copy of an entry that is still to be written is later than the entry, whichever is written first', async (t) => {
    const { openSegments } = open(t);
    const segments = openSegments();
    put(segments, K, 'first');
    assert.ok(segments.append(K, [Buffer.from('second')], 0, true));
    for (let i = 0; i < 3; i++) assert.ok(segments.append(L, [Buffer.alloc(MIB / 2)], 0, true)); // more than a unit
    await segments.flush();
    for (const each of [segments, openSegments()]) assert.equal(await textOf(each, K), 'second');
  });

  test('an entry that is put again after it was used still counts as used', async (t) => {
    const { openSegments } = open(t);
    const segments = openSegments();
    for (const wasUsed of [true, false]) assert.ok(segments.append(K, [Buffer.from('x')], 0, wasUsed));
    put(segments, L, 'other');
    assert.deepEqual([segments.find(K)?.segment.holdsUsed, segments.find(L)?.segment.holdsUsed], [true, false]);
  });

  test('nothing hides an older entry when there is none any more', async (t) => {
    const { openSegments } = open(t);
    const segments = openSegments({ segmentBytes: 1 });
    for (const text of ['old', 'new']) {
      put(segments, K, text);
      await segments.flush();
    }
    for (const count of [1, 0]) {
      await segments.remove(segments.oldest() ?? assert.fail());
      assert.equal(segments.count, count);
    }
  });

  test('entries whose unit cannot be written are absent, and later ones go to another segment', async (t) => {
    const { directory, problems, openSegments } = open(t);
    const segments = openSegments();
    rmSync(directory, { recursive: true });
    put(segments, K, 'one');
    await segments.flush();
    assert.deepEqual([segments.find(K), segments.entries, segments.count, problems.length], [undefined, 0, 0, 1]);
    follow(segments);
    assert.equal(segments.isPresent, false);
  });

  test('a worker whose segment was removed by another goes on in a new one', async (t) => {
    const { directory, openSegments } = open(t);
    const segments = openSegments();
    put(segments, K, 'one');
    await segments.flush();
    for (const file of globSync(join(directory, '*.segment'))) rmSync(file);
    follow(segments);
    assert.equal(segments.find(K), undefined);
    put(segments, K, 'two');
    await segments.flush();
    assert.equal(await textOf(openSegments(), K), 'two');
  });
});
