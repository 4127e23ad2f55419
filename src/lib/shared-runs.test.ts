import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSharedRuns } from './shared-runs.ts';

test('calls during a run share one more run, and runs do not overlap', async () => {
  const runs: PromiseWithResolvers<void>[] = [];
  const run = createSharedRuns(() => {
    const begun = Promise.withResolvers<void>();
    runs.push(begun);
    return begun.promise;
  });
  const first = run();
  const [second, third] = [run(), run()];
  assert.equal(runs.length, 1);
  runs[0]?.resolve();
  await first;
  await untilBegun(runs, 2);
  const fourth = run();
  runs[1]?.resolve();
  await Promise.all([second, third]);
  await untilBegun(runs, 3);
  runs[2]?.resolve();
  await fourth;
  assert.equal(runs.length, 3);
});

test('a run that fails fails its own callers only', async () => {
  const outcomes = [() => Promise.reject(new Error('away')), () => Promise.resolve()];
  const run = createSharedRuns(async () => await outcomes.shift()?.());
  const [first, second] = [run(), run()];
  await assert.rejects(first, /away/);
  await second;
  assert.equal(outcomes.length, 0);
});

test('no call is lost, however many microtasks after the end of a run it comes', async () => {
  for (let microtasks = 0; microtasks < 20; microtasks += 1) {
    let begun = 0;
    const run = createSharedRuns(async () => {
      begun += 1;
    });
    void run();
    for (let n = 0; n < microtasks; n += 1) await undefined;
    await run();
    assert.equal(begun, 2, `${microtasks} microtasks later`);
  }
});

async function untilBegun(runs: readonly unknown[], count: number): Promise<void> {
  while (runs.length < count) await undefined;
}
