/** The table of `docs/metrics.md`, read from the definitions of series in `src/`. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COUNTERS } from '#logs/counters.ts';
import { UNDER_WAY } from '#roles/process/messages.ts';

export interface Series {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** Help text of the series, as Prometheus gets it. */
  readonly meaning: string;
  /** File that defines it. */
  readonly file: string;
}

const ROOT = join(import.meta.dirname, '../../..');
export const METRICS_FILE = join(ROOT, 'docs/metrics.md');
const TABLE_HEAD = '| series | type | labels | meaning | defined in |\n|---|---|---|---|---|\n';

const DEFINITION = /new (Counter|Gauge|Histogram)(?:<[^>]*>)?\(\{(.*?)(?:\bregisters\b|\bcollect\()/gs;
/** Calls of `metricsOf` and of local helpers, which define a series by name and help, and perhaps labels. */
const HELPER_CALL =
  /\b(totals?|gauges?|histograms|counter)\(\s*(?:'(causeway_\w+)'|UNDER_WAY),\s*(?:'([^']*)'|"([^"]*)")(.*?)\n? *\)[;,]\n/gs;
const DOMAIN_COUNTER = 'causeway_domain_$' + '{metric}_total';

/** All series of the service's own, by name; Node's and the process's own (`nodejs_…`, `process_…`) are prom-client's. */
export function definedSeries(): Series[] {
  return globSync('src/**/*.ts', { cwd: ROOT, exclude: ['**/*.test.ts'] })
    .flatMap(seriesIn)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function metricsTable(): string {
  const rows = definedSeries().map(
    ({ name, type, labels, meaning, file }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${meaning} | \`${file}\` |\n`,
  );
  return `${TABLE_HEAD}${rows.join('')}`;
}

/** The document with a new table in place of its old one. */
export function withMetricsTable(document: string): string {
  return document.replace(/\| series \|(?:.*\n\|)*.*\n/, metricsTable());
}

function seriesIn(file: string): Series[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const constant = /const labelNames = \[([^\]]*)\]/.exec(text)?.[1];
  const defined = [...text.matchAll(DEFINITION)].flatMap(([, type = '', body = '']): Series[] => {
    const given = { type: type.toLowerCase() as Series['type'], labels: labelsOf(body, constant), file };
    const name = /name: (?:'([^']+)'|`([^`]+)`)/.exec(body);
    const [, quoted, template] = name ?? [];
    const meaning = /help:\s*(?:'([^']*)'|"([^"]*)"|`([^`]*)`)/.exec(body)?.slice(1).find(Boolean) ?? '';
    if (template === DOMAIN_COUNTER) return domainCounters(given, meaning);
    return quoted === undefined ? [] : [{ name: quoted, meaning, ...given }];
  });
  return [...defined, ...byHelper(text, file)];
}

function labelsOf(body: string, constant: string | undefined): string[] {
  const list = /labelNames: \[([^\]]*)\]/.exec(body)?.[1] ?? (/\blabelNames,/.test(body) ? (constant ?? '') : '');
  return [...list.matchAll(/'(\w+)'/g)].map(([, label = '']) => label);
}

function domainCounters(given: Omit<Series, 'name' | 'meaning'>, meaning: string): Series[] {
  return COUNTERS.map((counter) => {
    const metric = counter.replace(/[A-Z]|\d/, (c) => `_${c.toLowerCase()}`);
    const words = metric.replaceAll('_', ' ');
    return { name: `causeway_domain_${metric}_total`, meaning: meaning.replace(/\$\{[^}]*\}/, words), ...given };
  });
}

function byHelper(text: string, file: string): Series[] {
  return [...text.matchAll(HELPER_CALL)].map(([, helper = '', name = UNDER_WAY, single, double, rest = '']) => {
    const type = helper === 'histograms' ? 'histogram' : helper.startsWith('gauge') ? 'gauge' : 'counter';
    const list = /\[\s*('[^\]]*)\]/.exec(rest)?.[1] ?? '';
    return { name, type, labels: labelsOf(`labelNames: [${list}]`, undefined), meaning: single ?? double ?? '', file };
  });
}
