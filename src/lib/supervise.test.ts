import assert from 'node:assert/strict';
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../test/support/eventually.ts';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { type Death, SupervisedProcess } from './supervise.ts';

const OPTIONS = { backoff: { firstMs: 20, capMs: 80 }, settledAfterMs: 60_000, random: () => 0 };

test('a process that dies is started again, each time after a longer pause up to the cap', async (t) => {
  const deaths = await collectDeaths(t, 'process.exit(3)', 5);
  assert.deepEqual(
    deaths.map(({ delayMs }) => delayMs),
    [10, 20, 40, 40, 40],
  );
  assert.equal(deaths[0]?.how, 'exit code 3');
  assert.equal(new Set(deaths.map(({ pid }) => pid)).size, 5);
});

test('a process that has lived a while is started again after a short pause', async (t) => {
  let now = 0;
  const tick = () => {
    now += 40_000;
    return now;
  };
  const deaths = await collectDeaths(t, 'process.kill(process.pid, "SIGKILL")', 3, { now: tick, settledAfterMs: 1 });
  assert.deepEqual(
    deaths.map(({ delayMs }) => delayMs),
    [10, 10, 10],
  );
  assert.equal(deaths[0]?.how, 'signal SIGKILL');
});

test('a process that is stopped stays away, even if it must be killed', async (t) => {
  const launch = launcher(t, 'process.send("up"); setInterval(() => {}, 1000)');
  const deaths: Death[] = [];
  const kept = new SupervisedProcess({ ...OPTIONS, launch, onDeath: (death) => deaths.push(death), now: () => 0 });
  const { child } = kept;
  assert.ok(child !== undefined);
  await once(child, 'message');
  await kept.stop(() => kept.send({ kind: 'stop' }), 50);
  assert.equal(child.signalCode, 'SIGKILL');
  assert.equal(kept.send({ kind: 'stop' }), false);
  assert.deepEqual(deaths, []);
});

test('a process that is renewed is replaced at once, and neither dies nor comes back after a stop', async (t) => {
  const launch = launcher(t, 'process.once("message", () => process.exit(0)); process.send("up")');
  const deaths: Death[] = [];
  const kept = new SupervisedProcess({ ...OPTIONS, launch, onDeath: (death) => deaths.push(death), now: () => 0 });
  const first = kept.child;
  assert.ok(first !== undefined);
  await once(first, 'message');
  const ask = () => void kept.send({ kind: 'stop' });
  await kept.renew(ask, 60_000);
  const second = kept.child;
  assert.ok(second !== undefined && second.pid !== first.pid);
  await once(second, 'message');
  const renewed = kept.renew(ask, 60_000);
  await kept.stop(ask, 60_000);
  await renewed;
  assert.equal(kept.isRunning, false);
  assert.deepEqual(deaths, []);
});

/** A spawn fails in two ways: the function throws, or it returns a process without an id that emits `error`. */
const FAILED_SPAWNS = [
  {
    way: 'throws',
    launch: () => {
      throw new Error('spawn ETXTBSY');
    },
    how: /^spawn ETXTBSY$/,
  },
  { way: 'emits an error', launch: () => spawn('/nonexistent/program'), how: /ENOENT/ },
];

for (const { way, launch, how } of FAILED_SPAWNS)
  test(`a process whose spawn ${way} counts as dead, and is started again`, async (t) => {
    const works = launcher(t, 'process.send("up"); setInterval(() => {}, 1000)');
    const deaths: Death[] = [];
    let launches = 0;
    const kept = new SupervisedProcess({
      ...OPTIONS,
      launch: () => (++launches <= 3 ? launch() : works()),
      onDeath: (death) => deaths.push(death),
      now: () => 0,
    });
    assert.deepEqual([deaths, kept.send({}), kept.isRunning], [[], false, false], 'its owner is told afterwards');
    kept.kill();
    await eventually('it runs', () => kept.isRunning);
    assert.deepEqual(
      deaths.map(({ pid, delayMs }) => [pid, delayMs]),
      [10, 20, 40].map((delayMs) => [undefined, delayMs]),
    );
    for (const death of deaths) assert.match(death.how, how);
    await kept.stop(() => kept.kill(), 1000);
  });

for (const { way, launch } of FAILED_SPAWNS)
  test(`a process whose spawn ${way} can be stopped while it waits for the next try`, async () => {
    const deaths: Death[] = [];
    const kept = new SupervisedProcess({
      ...OPTIONS,
      launch,
      onDeath: (death) => deaths.push(death),
      now: () => 0,
    });
    await eventually('it has died', () => deaths.length > 0);
    await kept.stop(() => assert.fail('nobody is there to ask'), 60_000);
  });

async function collectDeaths(
  t: TestContext,
  script: string,
  count: number,
  options: { now?: () => number; settledAfterMs?: number } = {},
): Promise<Death[]> {
  const deaths: Death[] = [];
  const kept = new SupervisedProcess({
    ...OPTIONS,
    now: () => 0,
    ...options,
    launch: launcher(t, script),
    onDeath: (death) => deaths.push(death),
  });
  await eventually(`${count} deaths`, () => deaths.length >= count);
  await kept.stop(() => kept.kill(), 1000);
  return deaths.slice(0, count);
}

function launcher(t: TestContext, script: string) {
  const file = join(temporaryFolder(t), 'child.js');
  writeFileSync(file, script);
  return () => fork(file);
}
