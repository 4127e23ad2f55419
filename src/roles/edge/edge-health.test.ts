import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createLogger } from '#lib/logger.ts';
import type { HealthCheck, OwnCondition } from '#model/edge-health.ts';
import { startEdgeHealth } from './edge-health.ts';

const ROUND_MS = 2000;

/** A health with two workers whose checks say what `problems` holds; time passes only in `pass`. */
function start(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const problems: Partial<Record<HealthCheck, string>> = {};
  const facts = { hasSettings: true, isOrderedToDrain: false, drainsItself: false };
  const conditions: string[] = [];
  const logged: string[] = [];
  let now = 0;
  const ran: string[] = [];
  const check = (name: HealthCheck) =>
    [
      name,
      async () => {
        ran.push(name);
        return problems[name];
      },
    ] as const;
  const health = startEdgeHealth({
    workers: 2,
    checks: new Map([check('disk'), check('http')]),
    hasSettings: () => facts.hasSettings,
    isOrderedToDrain: () => facts.isOrderedToDrain,
    drainsItself: () => facts.drainsItself,
    cacheDisk: async () => 0.25,
    onCondition: ({ state, word }: OwnCondition) => void conditions.push(`${state} ${word}`),
    monotonic: () => now,
    log: createLogger({ level: 'info', name: 'test', destination: { write: (line) => void logged.push(line) } }),
  });
  t.after(() => health[Symbol.asyncDispose]());
  const settle = async () => {
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  };
  const report = (...workers: readonly string[]) => {
    for (const worker of workers)
      health.noteWorker({
        worker,
        pid: worker.charCodeAt(0),
        requests: now / 100,
        sentBytes: now * 125,
        underWay: 1,
        descriptors: 0.1,
      });
  };
  /** Lets both workers report for the first time. */
  const begin = async () => {
    await settle();
    report('a', 'b');
    await settle();
  };
  /** Lets rounds pass, in which these workers report. */
  const pass = async (rounds: number, ...workers: readonly string[]) => {
    for (let round = 0; round < rounds; round += 1) {
      now += ROUND_MS;
      report(...workers);
      t.mock.timers.tick(ROUND_MS);
      await settle();
    }
  };
  return { health, problems, facts, conditions, logged, ran, report, settle, begin, pass };
}

test('an edge is ready as soon as every worker has reported and the checks pass', async (t) => {
  const { health, conditions, ran, report, settle } = start(t);
  await settle();
  report('a');
  await settle();
  assert.deepEqual([conditions, ran], [['syncing syncing'], []]);
  report('b');
  await settle();
  assert.deepEqual(conditions, ['syncing syncing', 'ready ready']);
  const { state, health: results } = health.describe();
  assert.deepEqual(
    [state, results.map(({ check, ok }) => `${check} ${ok}`).sort()],
    ['ready', ['clock true', 'descriptors true', 'disk true', 'http true', 'workers true']],
  );
});

test('a check that fails twice makes the edge unhealthy, until it has passed three times', async (t) => {
  const { health, problems, conditions, logged, begin, pass } = start(t);
  await begin();
  problems.http = 'ECONNREFUSED';
  await pass(1, 'a', 'b');
  assert.equal(conditions.at(-1), 'ready ready');
  await pass(1, 'a', 'b');
  assert.equal(conditions.at(-1), 'unhealthy http');
  assert.deepEqual(
    health.describe().health.find(({ ok }) => !ok),
    { check: 'http', ok: false, detail: 'ECONNREFUSED' },
  );
  delete problems.http;
  await pass(2, 'a', 'b');
  assert.equal(conditions.at(-1), 'unhealthy http');
  await pass(1, 'a', 'b');
  assert.equal(conditions.at(-1), 'ready ready');
  assert.equal(logged.filter((line) => line.includes('"check":"http"')).length, 2);
});

test('a worker that falls silent, and a clock that is off, make the edge unhealthy', async (t) => {
  const { health, conditions, logged, begin, pass } = start(t);
  await begin();
  await pass(6, 'a');
  assert.equal(conditions.at(-1), 'ready ready');
  await pass(4, 'a');
  assert.equal(conditions.at(-1), 'unhealthy workers');
  await pass(3, 'a', 'b');
  assert.equal(conditions.at(-1), 'ready ready');
  health.noteClock(6000);
  await pass(3, 'a', 'b');
  assert.equal(conditions.at(-1), 'ready ready');
  assert.equal(logged.filter((line) => line.includes('clock differs')).length, 1);
  health.noteClock(-7_200_000);
  await pass(2, 'a', 'b');
  assert.equal(conditions.at(-1), 'unhealthy clock');
  assert.deepEqual(health.describe().clockOffsetMs, -7_200_000);
});

test('a drain shows at once, and rates are reported', async (t) => {
  const { health, facts, conditions, begin, pass } = start(t);
  await begin();
  facts.isOrderedToDrain = true;
  health.look();
  assert.equal(conditions.at(-1), 'ready draining');
  facts.drainsItself = true;
  health.look();
  assert.equal(conditions.at(-1), 'draining draining');
  await pass(2, 'a', 'b');
  const { requests, mbit, underWay, cacheDisk } = health.describe().load;
  assert.deepEqual([requests, mbit, underWay, cacheDisk], [20, 2, 2, 0.25]);
});
