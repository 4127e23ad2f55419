/** docs/metrics.md has every series that the code defines, with its type, labels and meaning. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { definedSeries, METRICS_FILE, withMetricsTable } from '../support/docs/metrics-table.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('docs/metrics.md', () => {
  test('docs/metrics.md is up to date (node test/support/docs/write-metrics-table.ts)', () => {
    const document = readFileSync(METRICS_FILE, 'utf8');
    assert.equal(withMetricsTable(document), document);
  });

  test('the script that writes the table finds every name of a series in the code', () => {
    const named = globSync('src/**/*.ts', { cwd: ROOT, exclude: ['**/*.test.ts'] }).flatMap((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      if (!text.includes("from 'prom-client'")) return [];
      return [...text.matchAll(/'(causeway_[a-z0-9_]+)'/g)].map(([, name = '']) => name);
    });
    const found = definedSeries().map(({ name }) => name);
    assert.deepEqual(
      named.filter((name) => !found.includes(name)),
      [],
    );
    assert.ok(named.length > 50);
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
