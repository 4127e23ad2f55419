/** The alert rules and the dashboard: promtool accepts them, every alert fires when it should, every series exists. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { EVENT_KIND_NAMES, EVENT_KINDS } from '#model/event.ts';
import { listCommands } from '../support/cli/list-commands.ts';
import { definedSeries, type Series } from '../support/docs/metrics-table.ts';
import { findSelectors } from '../support/docs/promql.ts';
import { needs, obtain } from '../support/runner/needs.ts';

const FOLDER = join(import.meta.dirname, '../../packaging/monitoring');
const RULES = join(FOLDER, 'prometheus-rules.yml');
const RULE_TESTS = join(FOLDER, 'prometheus-rules.test.yml');

/** Labels that Prometheus adds, or that each sample of a process has. */
const COMMON_LABELS: ReadonlySet<string> = new Set(['job', 'instance', 'process', 'role', 'le']);

describe('the alert rules for Prometheus', () => {
  test('promtool finds nothing wrong with the rules', needs('promtool'), () => {
    const said = execFileSync(obtain('promtool'), ['check', 'rules', '--lint=all', '--lint-fatal', RULES], {
      encoding: 'utf8',
    });
    assert.match(said, new RegExp(`SUCCESS: ${alerts().length} rules found`));
  });

  test('nothing fires on a healthy service, and every alert on a broken one', needs('promtool'), () => {
    execFileSync(obtain('promtool'), ['test', 'rules', RULE_TESTS], { encoding: 'utf8', stdio: 'pipe' });
  });

  test('the test of the rules names every alert', () => {
    const tested = [...readFileSync(RULE_TESTS, 'utf8').matchAll(/alertname="(\w+)"/g)].map(([, name]) => name);
    assert.deepEqual(tested.toSorted(), alerts().toSorted());
  });

  test('every alert says how severe it is, what is wrong and what to do', () => {
    for (const rule of readFileSync(RULES, 'utf8').split('- alert: ').slice(1)) {
      const [name = ''] = rule.split('\n');
      assert.match(rule, /severity: (critical|warning|info)\b/, name);
      assert.match(rule, /summary: \S.{10}/, name);
      assert.match(rule, /action: \S.{10}/, name);
    }
    assert.ok(alerts().length > 20);
  });

  test('every command that an alert recommends exists', async () => {
    const known = await listCommands();
    const named = [...readFileSync(RULES, 'utf8').matchAll(/`causeway ((?:[a-z-]+ ?)+)/g)].map(([, words = '']) =>
      words.trim(),
    );
    assert.ok(named.length > 5);
    assert.deepEqual(
      named.filter((words) => !known.some((name) => name === words || words.startsWith(`${name} `))),
      [],
    );
  });
});

test('docs/monitoring.md has every kind of event, with its severity', () => {
  const document = readFileSync(join(import.meta.dirname, '../../docs/monitoring.md'), 'utf8');
  const documented = [...document.matchAll(/^\| (`\w+\.\w+`.*?) \| ([a-z, ]+) \|/gm)].flatMap(
    ([, cell = '', words = '']) => {
      const kinds = [...cell.matchAll(/`(\w+\.\w+)`/g)].map(([, kind = '']) => kind);
      const severities = words.split(', ');
      return kinds.map((kind, n) => [kind, severities[n] ?? severities[0]]);
    },
  );
  assert.deepEqual(
    Object.fromEntries(documented),
    Object.fromEntries(EVENT_KIND_NAMES.map((kind) => [kind, EVENT_KINDS[kind]])),
  );
});

describe('series that monitoring uses', () => {
  const series = new Map(definedSeries().map((its) => [its.name, its]));
  const sources: readonly (readonly [string, readonly string[]])[] = [
    ['the rules', [...ruleExpressions(), readFileSync(RULE_TESTS, 'utf8')]],
    ['the dashboard', dashboardExpressions()],
  ];
  for (const [what, texts] of sources)
    test(`every series of ${what} exists, and has the labels that are asked for`, () => {
      const selectors = texts.flatMap(findSelectors);
      assert.ok(selectors.length > 30);
      for (const { name, labels } of selectors) {
        const found = seriesOf(series, name);
        assert.ok(found !== undefined, `${name} is no series of docs/metrics.md`);
        const unknown = labels.filter((label) => !found.labels.includes(label) && !COMMON_LABELS.has(label));
        assert.deepEqual(unknown, [], `${name} has no label ${unknown.join(', ')}`);
      }
    });

  test('a name or label that does not exist is found out', () => {
    const [selector] = findSelectors(
      'sum(rate(causeway_edge_first_byte_seconds_bucket{cache="HIT",worker=~"a|b"}[5m]))',
    );
    assert.deepEqual(selector, { name: 'causeway_edge_first_byte_seconds_bucket', labels: ['cache', 'worker'] });
    assert.equal(seriesOf(series, 'causeway_edge_first_byte_seconds_bucket')?.type, 'histogram');
    assert.equal(seriesOf(series, 'causeway_edge_first_byte_seconds'), undefined);
    assert.equal(seriesOf(series, 'causeway_origins_down_bucket'), undefined);
  });
});

function alerts(): string[] {
  return [...readFileSync(RULES, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
}

/** The series of a name as Prometheus stores it: a histogram has three names, none of them its own. */
function seriesOf(series: ReadonlyMap<string, Series>, name: string): Series | undefined {
  const [, base = ''] = /^(.*)_(?:bucket|sum|count)$/.exec(name) ?? [];
  const histogram = series.get(base);
  if (histogram?.type === 'histogram') return histogram;
  const own = series.get(name);
  return own?.type === 'histogram' ? undefined : own;
}

/** Not the texts of annotations, which name a histogram by its own name. */
function ruleExpressions(): readonly string[] {
  const rules = readFileSync(RULES, 'utf8');
  const found = [...rules.matchAll(/^ {8}expr: ([\s\S]*?)^ {8}(?:for|labels):/gm)].map(([, text = '']) => text);
  assert.equal(found.length, alerts().length);
  return found;
}

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
}

function dashboardExpressions(): readonly string[] {
  // `as`: Grafana's format; a member that is missing fails the test.
  const dashboard = JSON.parse(readFileSync(join(FOLDER, 'grafana-dashboard.json'), 'utf8')) as Dashboard;
  const variables = dashboard.templating.list.map(({ query }) => (typeof query === 'string' ? query : query.query));
  return [...variables, ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))];
}
