import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../../test/support/temporary.ts';
import { HeardInvalidations } from './heard-invalidations.ts';
import { SharedInvalidations } from './shared-invalidations.ts';

const hashOf = (index: number) => index.toString(16).padStart(16, '0');

/** Workers of one directory. The test decides which of them have the file open. */
function openWorkers(t: TestContext) {
  const path = join(temporaryFolder(t), 'invalidations.db');
  return {
    path,
    openWorker: () => {
      let file: SharedInvalidations | undefined;
      let isBroken = false;
      const heard: string[] = [];
      const problems: unknown[] = [];
      const invalidations = new HeardInvalidations({
        open: () => file,
        onProblem: (error) => problems.push(error),
      });
      invalidations.onInvalidated = ({ hash, at }) => heard.push(`${Number.parseInt(hash, 16)} ${at}`);
      const close = () => {
        file?.close();
        file = undefined;
      };
      const use = () => {
        if (!isBroken) file?.close();
        isBroken = false;
        file = new SharedInvalidations(path);
      };
      t.after(() => file?.close());
      const fail = () => {
        file?.close();
        isBroken = true;
      };
      use();
      return { invalidations, heard, problems, use, close, fail };
    },
  };
}

describe('invalidations that the file cannot take', () => {
  test('an invalidation without a file is recorded when there is one', async (t) => {
    const { openWorker } = openWorkers(t);
    const [a, b] = [openWorker(), openWorker()];
    a.close();
    a.invalidations.record(hashOf(1), 100);
    a.use();
    await heardBy(b, [a, b]);
    assert.deepEqual(b.heard, ['1 100']);
  });

  test('an invalidation that could not be written is recorded later', async (t) => {
    const { openWorker } = openWorkers(t);
    const [a, b] = [openWorker(), openWorker()];
    a.fail();
    a.invalidations.record(hashOf(1), 100);
    a.invalidations.record(hashOf(1), 90);
    assert.equal(a.problems.length, 2);
    a.use();
    await heardBy(b, [a, b]);
    assert.deepEqual(b.heard, ['1 100']);
  });

  for (const [who, order] of [
    ['the worker that recorded it', [0, 1]],
    ['another worker', [1, 0]],
  ] as const) {
    test(`an invalidation in a file that was removed is heard from the new one, first opened by ${who}`, async (t) => {
      const { openWorker, path } = openWorkers(t);
      const [a, b] = [openWorker(), openWorker()];
      for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
      a.invalidations.record(hashOf(1), 100);
      for (const worker of order.map((index) => [a, b][index] ?? a)) {
        worker.use();
        worker.invalidations.hear();
      }
      await heardBy(b, [a, b]);
      assert.deepEqual(b.heard, ['1 100']);
    });
  }
});

type Worker = ReturnType<ReturnType<typeof openWorkers>['openWorker']>;

/** Changes are read once a millisecond. */
async function heardBy({ heard }: Worker, workers: readonly Worker[]): Promise<void> {
  await eventually('heard', () => {
    for (const { invalidations } of workers) invalidations.hear();
    return heard.length > 0;
  });
}
