import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { eventually } from '../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { BodyBuffer } from './body-buffer.ts';
import { createBufferBudget } from './budget.ts';
import { createTemporaryFiles, type TemporaryFiles } from './temporary-files.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const PLENTY = { memoryBytes: 64 * MIB, fileBytes: 256 * MIB, files: 100 };

function world(
  t: Pick<TestContext, 'after'>,
  { limits = PLENTY, files: given }: { limits?: typeof PLENTY; files?: TemporaryFiles } = {},
) {
  const directory = temporaryFolder(t);
  const budget = createBufferBudget(limits);
  const files = given ?? createTemporaryFiles(directory);
  const problems: unknown[] = [];
  const make = (client = 'a', maxFileBytes = 128 * MIB) =>
    new BodyBuffer({
      budget,
      files,
      owner: { client, domainId: 1 },
      memoryBytes: 64 * KIB,
      maxFileBytes,
      onProblem: (error) => void problems.push(error),
    });
  const taken = () => [budget.memoryBytes.taken, budget.fileBytes.taken, budget.files.taken];
  return { directory, budget, problems, make, taken };
}

/** Fills the buffer; returns the bytes that were written. */
async function fill(buffer: BodyBuffer, pieces: Iterable<Buffer>): Promise<Buffer> {
  const written: Buffer[] = [];
  for (const piece of pieces) {
    const isGoingOn = buffer.add(piece);
    written.push(piece);
    if (isGoingOn) continue;
    await buffer.room();
    if (buffer.isFull) break;
  }
  return Buffer.concat(written);
}

async function readAll(buffer: BodyBuffer): Promise<Buffer> {
  const read: Buffer[] = [];
  for (let at = 0; ; ) {
    const bytes = await buffer.read(at);
    if (bytes === undefined) return Buffer.concat(read);
    read.push(bytes);
    at += bytes.length;
  }
}

function* counted(pieces: number, bytes: number): Generator<Buffer> {
  for (let i = 0; i < pieces; i++) yield Buffer.alloc(bytes, `piece ${i} `);
}

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('a body', () => {
  for (const [what, pieces, bytes] of [
    ['of a few bytes', 1, 3],
    ['of many small pieces', 5_000, 100],
    ['of large pieces', 40, 64 * KIB],
  ] as const) {
    test(`a body, ${what}, is read again and again, and releases everything at its end`, async (t) => {
      const { make, taken, directory, problems } = world(t);
      const buffer = make();
      buffer.keepsRead = true;
      const written = await fill(buffer, counted(pieces, bytes));
      buffer.end();
      for (let i = 0; i < 2; i++) assert.equal(digest(await readAll(buffer)), digest(written));
      assert.ok((taken()[0] ?? 0) <= 64 * KIB + 320 * KIB);
      assert.equal(buffer.isWhole, true);
      assert.deepEqual(readdirSync(directory), []); // the file has no name
      buffer.close();
      assert.deepEqual(taken(), [0, 0, 0]);
      await assert.rejects(buffer.read(0), /gone/);
      assert.deepEqual(problems, []);
    });
  }

  test('a body is read while it is written, in any interleaving, and drops what was read', async (t) => {
    const { make, taken } = world(t);
    const step = fc.oneof(
      fc.record({ write: fc.integer({ min: 1, max: 200 * KIB }) }),
      fc.record({ read: fc.integer({ min: 1, max: 20 }) }),
      fc.constant({ pause: true } as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.boolean(), async (steps, keeps) => {
        const buffer = make();
        buffer.keepsRead = keeps;
        const [written, read] = [createHash('sha256'), createHash('sha256')];
        let at = 0;
        let seed = 0;
        for (const one of steps) {
          if ('write' in one) {
            const bytes = Buffer.alloc(one.write, `${seed++} `);
            written.update(bytes);
            buffer.add(bytes);
          } else if ('read' in one) {
            for (let i = 0; i < one.read && at < buffer.sizeBytes; i++) {
              const bytes = await buffer.read(at);
              read.update(bytes ?? '');
              at += bytes?.length ?? 0;
            }
          } else await new Promise(setImmediate);
        }
        buffer.end();
        for (let bytes = await buffer.read(at); bytes !== undefined; bytes = await buffer.read(at)) {
          read.update(bytes);
          at += bytes.length;
        }
        assert.equal(read.digest('hex'), written.digest('hex'));
        buffer.close();
        await new Promise(setImmediate);
      }),
      { numRuns: 60 },
    );
    await eventually('given back', () => taken().every((amount) => amount === 0));
  });

  test('a body that is not complete fails its reader, and so does a closed one', async (t) => {
    const { make } = world(t);
    const [failed, closed] = [make(), make()];
    for (const buffer of [failed, closed]) {
      buffer.add(Buffer.from('abc'));
      assert.equal(String(await buffer.read(0)), 'abc');
    }
    const reading = [failed.read(3), closed.read(3)];
    failed.fail(new Error('the client has left'));
    closed.close();
    await assert.rejects(reading[0] ?? Promise.resolve(), /the client has left/);
    await assert.rejects(reading[1] ?? Promise.resolve(), /gone/);
  });
});

describe('bounds', () => {
  test('a body without a file is full when its share of memory is', async (t) => {
    const { make, taken } = world(t, { limits: { ...PLENTY, files: 0 } });
    const buffer = make();
    const written = await fill(buffer, counted(100, 16 * KIB));
    assert.equal(buffer.isFull, true);
    assert.ok(written.length <= 80 * KIB, `${written.length}`);
    assert.deepEqual(taken().slice(1), [0, 0]);
    const drained = buffer.drained();
    for (let at = 0; at < 32 * KIB; at += 16 * KIB) assert.equal((await buffer.read(at))?.length, 16 * KIB);
    await drained;
    assert.equal(buffer.isFull, false);
  });

  test("a body beyond the limit of one file is at the reader's pace; when the reader has caught up, the file begins anew", async (t) => {
    const { make, taken } = world(t);
    const buffer = make('a', 1 * MIB);
    let sent = 0;
    let read = 0;
    for (let round = 0; round < 5; round++) {
      sent += (await fill(buffer, counted(100, 64 * KIB))).length;
      assert.equal(buffer.isFull, true);
      assert.ok((taken()[1] ?? 0) <= MIB);
      while (read < sent) read += (await buffer.read(read))?.length ?? 0;
      await buffer.drained();
    }
    buffer.close();
    await eventually('given back', () => taken().every((amount) => amount === 0));
  });

  test('one client, or one domain, has half of the memory, of the disk and of the files, and others find room', async (t) => {
    const { make, budget } = world(t, { limits: { memoryBytes: MIB, fileBytes: 4 * MIB, files: 4 } });
    const fillNew = async (client: string) => {
      const buffer = make(client);
      const { length } = await fill(buffer, counted(100, 64 * KIB));
      return { length, buffer };
    };
    const first = await fillNew('a');
    assert.ok(first.length > MIB && first.length < 3 * MIB, `${first.length}`);
    assert.ok(budget.fileBytes.taken <= 2 * MIB);
    const second = await fillNew('a');
    assert.ok(second.length < MIB, `${second.length}`);
    const owner = { client: 'b', domainId: 2 };
    assert.equal(budget.fileBytes.mayTake(owner, MIB), true);
    assert.equal(budget.files.mayTake(owner, 1), true);
    assert.equal(budget.memoryBytes.mayTake(owner, 1), true);
    for (const { buffer } of [first, second]) buffer.close();
  });

  test('small bodies, too, go into files when memory is short', async (t) => {
    const { make, taken } = world(t, { limits: { memoryBytes: 16 * KIB, fileBytes: MIB, files: 100 } });
    const buffers = Array.from({ length: 8 }, (_, i) => make(`client ${i}`));
    for (const buffer of buffers) await fill(buffer, counted(1, 8 * KIB));
    for (const buffer of buffers) buffer.end();
    assert.ok((taken()[0] ?? 0) <= 16 * KIB, `${taken()}`);
    for (const buffer of buffers) assert.equal((await readAll(buffer)).length, 8 * KIB);
    for (const buffer of buffers) buffer.close(); // a file that is collected while it is open is an error
  });
});

describe('a disk that fails', () => {
  test('a full disk leaves the written part readable, and the rest stays in memory', async (t) => {
    const full: TemporaryFiles = { open: () => open('/dev/full', 'r+'), inTurn: (work) => work() };
    const { make, problems, taken } = world(t, { files: full });
    const buffer = make();
    buffer.keepsRead = true;
    const written = await fill(buffer, counted(10, 64 * KIB));
    assert.equal(buffer.isFull, true);
    assert.match(String(problems[0]), /ENOSPC/);
    buffer.end();
    assert.equal(digest(await readAll(buffer)), digest(written));
    buffer.close();
    assert.deepEqual(taken(), [0, 0, 0]);
  });

  test('bodies stay in memory if there is no directory', async (t) => {
    const { directory } = world(t);
    writeFileSync(join(directory, 'file'), '');
    const { make, problems } = world(t, { files: createTemporaryFiles(join(directory, 'file', 'below')) });
    const buffer = make();
    const written = await fill(buffer, counted(10, 64 * KIB));
    assert.equal(buffer.isFull, true);
    assert.equal(problems.length, 1);
    buffer.end();
    assert.equal(digest(await readAll(buffer)), digest(written));
  });

  test('files of a killed process are removed when the next one starts', async (t) => {
    const { directory } = world(t);
    const below = join(directory, 'buffers');
    await (await createTemporaryFiles(below).open()).close();
    writeFileSync(join(below, 'left'), 'behind');
    await (await createTemporaryFiles(below).open()).close();
    assert.deepEqual(readdirSync(below), []);
  });
});

test('a few files are worked on at once, the others wait for their turn, even after work that fails', async (t) => {
  const files = createTemporaryFiles(temporaryFolder(t));
  let running = 0;
  let most = 0;
  const works = Array.from({ length: 20 }, (_, i) =>
    files.inTurn(async () => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      if (i % 3 === 0) throw new Error('failed');
      return i;
    }),
  );
  const results = await Promise.allSettled(works);
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 13);
  assert.equal(most, 4);
});
