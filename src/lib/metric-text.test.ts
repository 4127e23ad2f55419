import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gauge, Registry } from 'prom-client';
import { readMetricText } from './metric-text.ts';

test('samples are read as the library writes them, with labels of any text, and others are left out', async () => {
  const registry = new Registry();
  const gauge = new Gauge({
    name: 'wanted',
    help: 'a "help"\nof two lines',
    labelNames: ['part'],
    registers: [registry],
  });
  gauge.set({ part: 'control' }, 1);
  gauge.set({ part: 'a "b\\c\nd",e="f"' }, 2.5);
  new Gauge({ name: 'plain', help: 'h', registers: [registry] }).set(7);
  new Gauge({ name: 'other', help: 'h', registers: [registry] }).set(9);
  const samples = readMetricText(await registry.metrics(), (name) => name !== 'other');
  assert.deepEqual(samples, [
    { name: 'wanted', labels: { part: 'control' }, value: 1 },
    { name: 'wanted', labels: { part: 'a "b\\c\nd",e="f"' }, value: 2.5 },
    { name: 'plain', labels: {}, value: 7 },
  ]);
});
