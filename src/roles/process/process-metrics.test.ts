import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gauge, Registry } from 'prom-client';
import { addProcessMetrics, collectMetrics } from './process-metrics.ts';

const readValue = async (registry: Registry, name: string) =>
  (await registry.getSingleMetric(name)?.get())?.values[0]?.value ?? Number.NaN;

test('a long turn of the event loop shows in the metrics', async () => {
  const registry = new Registry();
  addProcessMetrics(registry);
  await new Promise(setImmediate);
  const until = performance.now() + 30;
  while (performance.now() < until); // holds up the loop
  // A turn is measured when the loop begins another, which immediates of the second one see.
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  await registry.getMetricsAsJSON();
  assert.ok((await readValue(registry, 'nodejs_eventloop_lag_max_seconds')) >= 0.03);
  for (const figure of ['min', 'mean', 'stddev', 'p50', 'p90', 'p99']) {
    const value = await readValue(registry, `nodejs_eventloop_lag_${figure}_seconds`);
    assert.ok(value >= 0 && value < 60, `${figure}: ${value}`);
  }
});

test('the metrics of Node and of the process are present', async () => {
  const registry = new Registry();
  addProcessMetrics(registry);
  const names = (await registry.getMetricsAsJSON()).map(({ name }) => name);
  for (const name of ['process_cpu_seconds_total', 'nodejs_heap_size_used_bytes', 'nodejs_eventloop_lag_seconds'])
    assert.ok(names.includes(name), name);
  assert.equal(new Set(names).size, names.length);
});

test('a metric whose collector throws is left out and logged, and the others are collected', async () => {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: 'good',
    help: 'a metric',
    registers,
    collect() {
      this.set(7);
    },
  });
  new Gauge({
    name: 'throws',
    help: 'a metric',
    registers,
    collect() {
      throw new Error('broken');
    },
  });
  new Gauge({ name: 'rejects', help: 'a metric', registers, collect: () => Promise.reject(new Error('broken')) });
  const errors: unknown[] = [];
  const metrics = await collectMetrics(
    registry,
    { process: 'live' },
    { error: (fields: object) => void errors.push(Object(fields).metric) },
  );
  assert.deepEqual(
    metrics.map(({ name, values }) => [name, values]),
    [['good', [{ value: 7, labels: { process: 'live' } }]]],
  );
  assert.deepEqual(errors, ['throws', 'rejects']);
});
