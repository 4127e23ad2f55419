/** docs/metrics.md has every series that the code defines, with its type, labels and meaning. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { COUNTERS } from '#logs/counters.ts';
import { definedSeries, METRICS_FILE, withMetricsTable } from './support/metrics-table.ts';

const ROOT = join(import.meta.dirname, '..');

describe('docs/metrics.md', () => {
  test('is up to date (node test/support/write-metrics-table.ts)', () => {
    const document = readFileSync(METRICS_FILE, 'utf8');
    assert.equal(withMetricsTable(document), document);
  });

  test('the script that writes the table understands every definition in the code', () => {
    const definitions = globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) => [
      ...readFileSync(join(ROOT, file), 'utf8').matchAll(/new (?:Counter|Gauge|Histogram|Summary)\b/g),
    ]);
    // One definition makes the counters of domains, another the two gauges of live processes.
    assert.equal(definedSeries().length, definitions.length + COUNTERS.length - 1 + 1);
  });

  test('every series has a name of the service, a meaning, and a name of its own', () => {
    const series = definedSeries();
    assert.deepEqual(
      series.filter(({ name, meaning }) => !/^causeway_[a-z0-9_]+$/.test(name) || meaning === ''),
      [],
    );
    assert.equal(new Set(series.map(({ name }) => name)).size, series.length);
  });
});
