/** Writes the table of docs/metrics.md anew from the code: `node test/support/docs/write-metrics-table.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { METRICS_FILE, withMetricsTable } from './metrics-table.ts';

writeFileSync(METRICS_FILE, withMetricsTable(readFileSync(METRICS_FILE, 'utf8')));
