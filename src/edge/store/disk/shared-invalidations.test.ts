import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { SharedInvalidations } from './shared-invalidations.ts';

function open(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'causeway-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return (maxMirrored?: number) => {
    const shared = new SharedInvalidations(join(directory, 'invalidations.db'), maxMirrored);
    t.after(() => shared.close());
    return shared;
  };
}

const hashOf = (index: number) => index.toString(16).padStart(16, '0');

describe('invalidations that workers share', () => {
  test('invalidations are known at once to the worker that records them, and to the others when they ask for news', (t) => {
    const openWorker = open(t);
    const [a, b] = [openWorker(), openWorker()];
    a.record(hashOf(1), 100);
    assert.equal(a.at(hashOf(1)), 100);
    assert.deepEqual(
      b.refresh().map(({ hash, at }) => ({ hash, at })),
      [{ hash: hashOf(1), at: 100 }],
    );
    assert.equal(b.at(hashOf(1)), 100);
    assert.deepEqual(b.refresh(), []);
    b.record(hashOf(1), 50); // an older instant does not replace a later one
    assert.equal(b.at(hashOf(1)), 100);
    a.refresh();
    assert.equal(a.at(hashOf(1)), 100);
  });

  test('invalidations that were recorded between two of this worker are news too', (t) => {
    const openWorker = open(t);
    const [a, b] = [openWorker(), openWorker()];
    b.record(hashOf(1), 100);
    a.record(hashOf(2), 100);
    b.record(hashOf(3), 100);
    b.refresh();
    assert.equal(b.at(hashOf(2)), 100);
  });

  test('invalidations of an earlier time are known from the beginning', (t) => {
    const openWorker = open(t);
    const a = openWorker();
    a.record(hashOf(1), 100);
    const b = openWorker();
    assert.equal(b.at(hashOf(1)), 100);
    assert.equal(b.at(hashOf(2)), undefined);
  });

  for (const [when, isOpenBefore] of [
    ['before', true],
    ['after', false],
  ] as const) {
    test(`invalidations are found also where memory has no room for them: a worker that was opened ${when} they were recorded`, (t) => {
      const openWorker = open(t);
      const a = openWorker(2);
      const before = isOpenBefore ? openWorker(2) : undefined;
      for (let i = 0; i < 10; i++) a.record(hashOf(i), 100 + i);
      before?.refresh();
      for (const worker of [a, before ?? openWorker(2)]) {
        for (let i = 0; i < 10; i++) assert.equal(worker.at(hashOf(i)), 100 + i);
        assert.equal(worker.at(hashOf(10)), undefined);
      }
    });
  }

  test('invalidations are forgotten by all, and what they forbade is refused from then on', (t) => {
    const openWorker = open(t);
    const [a, b] = [openWorker(2), openWorker(2)];
    for (let i = 0; i < 4; i++) a.record(hashOf(i), 100 + i);
    b.refresh();
    a.forget(a.oldest(103, 100, 10));
    b.refresh();
    for (const worker of [a, b]) {
      assert.equal(worker.floor, 102);
      assert.deepEqual(
        [0, 1, 2, 3].map((i) => worker.at(hashOf(i))),
        [undefined, undefined, undefined, 103],
      );
    }
  });
});
