import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { JournalWriter } from './journal.ts';
import { KnownKeys } from './known-keys.ts';

const [A, B, C] = ['abc0000000000001', 'abc0000000000002', 'def0000000000003'] as const;
const OWN = 1;

function open(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'causeway-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const objects = join(directory, 'objects-1');
  mkdirSync(objects);
  const problems: unknown[] = [];
  const onProblem = (problem: unknown) => void problems.push(problem);
  const openKeys = (writer = OWN) => {
    const keys = new KnownKeys({ directory, objects, maxBytes: 10_000_000, writer, onProblem });
    t.after(() => keys.close());
    return keys;
  };
  const other = new JournalWriter(directory, onProblem);
  t.after(() => other.close());
  return { directory, objects, problems, openKeys, other };
}

describe('the keys that are known to be on disk', () => {
  test('known keys are those of the folders, and until these are read any key may be there', async (t) => {
    const { objects, openKeys } = open(t);
    for (const name of [A, `${B}.0000000000000001`]) {
      mkdirSync(join(objects, name.slice(0, 3)), { recursive: true });
      writeFileSync(join(objects, name.slice(0, 3), name), '');
    }
    const keys = openKeys();
    assert.deepEqual([keys.mayHave(A, 0), keys.mayHave(C, 0)], [true, true]);
    await keys.filled();
    assert.equal(keys.mayHave(A, 0), true);
    assert.equal(keys.mayHave(B, 0), false); // a body without an entry
    assert.equal(keys.mayHave(C, 0), false);
  });

  test('known keys are those that other workers have stored since, until they are removed', async (t) => {
    const { openKeys, other } = open(t);
    const keys = openKeys();
    await keys.filled();
    assert.equal(keys.mayHave(A, 0), false);
    for (const hash of [A, B]) other.noteStored(hash, 1_000);
    await other.flush();
    assert.equal(keys.mayHave(A, 0.5), false); // asked for less than a millisecond ago
    assert.deepEqual([keys.mayHave(A, 1), keys.mayHave(B, 1)], [true, true]);
    other.noteStored(A, 0);
    other.noteEvicted(B);
    await other.flush();
    keys.follow(2);
    assert.deepEqual([keys.mayHave(A, 2), keys.mayHave(B, 2)], [false, false]);
  });

  test('known keys are kept when the journal was put aside, and what it had at its end is read', async (t) => {
    const { directory, openKeys, other } = open(t);
    other.noteStored(C, 1_000);
    await other.flush();
    const keys = openKeys();
    await keys.filled();
    assert.equal(keys.mayHave(C, 0), false); // older than the journal's end, and in no folder
    other.noteStored(A, 1_000);
    await other.flush();
    renameSync(join(directory, 'journal'), join(directory, 'journal.old'));
    rmSync(join(directory, 'journal.old'));
    assert.equal(keys.mayHave(A, 1), true);
    other.noteStored(B, 1_000);
    await other.flush();
    assert.equal(keys.mayHave(B, 2), true);
  });

  for (const [when, isOpenBefore] of [
    ['before', true],
    ['after', false],
  ] as const) {
    test(`known keys are read behind a record that a full disk cut short, by a worker that was opened ${when} it was written`, async (t) => {
      const { directory, openKeys, other } = open(t);
      other.noteStored(C, 1_000);
      await other.flush();
      const before = isOpenBefore ? openKeys() : undefined;
      appendFileSync(join(directory, 'journal'), Buffer.alloc(16, 1));
      const keys = before ?? openKeys();
      await keys.filled();
      for (const hash of [A, B]) other.noteStored(hash, 1_000);
      await other.flush();
      assert.deepEqual([keys.mayHave(A, 1), keys.mayHave(B, 2)], [true, true]);
    });
  }

  test('known keys are not changed by what the worker itself has written down, which it may have stored again meanwhile', async (t) => {
    const { openKeys, other } = open(t);
    const keys = openKeys(other.writer);
    await keys.filled();
    other.noteStored(A, 0);
    keys.add(A);
    await other.flush();
    keys.follow(1);
    assert.equal(keys.mayHave(A, 1), true);
    keys.delete(A);
    assert.equal(keys.mayHave(A, 2), false);
  });

  test('any key may be there when the folders cannot be read', async (t) => {
    const { objects, problems, openKeys } = open(t);
    rmSync(objects, { recursive: true });
    const keys = openKeys();
    await keys.filled();
    assert.equal(keys.mayHave(A, 0), true);
    assert.equal(problems.length, 1);
  });
});
