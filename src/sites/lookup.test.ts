import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSiteTable } from './lookup.ts';
import { purgedAt, type SitePurge } from './purge.ts';
import type { SiteSpec } from './spec.ts';
import type { SiteTable } from './table.ts';

describe('the site table', () => {
  const rows = [
    ['www.example.com', 'www.example.com'],
    ['a.example.com', '*.example.com'],
    ['a.b.example.com', '*.b.example.com'],
    ['a.c.example.com', '*.example.com'],
    ['b.example.com', '*.example.com'],
    ['example.com', undefined],
    ['example.org', undefined],
    ['xwww.example.org', undefined],
    ['', undefined],
  ] as const;
  const { table } = tableOf(['www.example.com', '*.example.com', '*.b.example.com']);
  for (const [host, name] of rows) {
    test(`'${host}' belongs to ${name ?? 'nobody'}`, () => assert.equal(table.find(host)?.name, name));
  }

  test('a site is read and compiled once, an unknown host is looked up once', () => {
    const { table, asked } = tableOf(['a.example']);
    for (let i = 0; i < 3; i++) {
      assert.equal(table.find('a.example'), table.find('a.example'));
      assert.equal(table.find('b.example'), undefined);
    }
    assert.deepEqual(asked, ['a.example', 'b.example', '*.example']);
  });

  test('forgetting a name shows its change; the other sites are not read again', () => {
    const { table, asked, specs } = tableOf(['a.example', 'b.example']);
    const [a, b] = [table.find('a.example'), table.find('b.example')];
    specs.set('a.example', { spec: spec('a.example', 'closed'), revision: 2 });
    assert.equal(table.find('a.example'), a);
    asked.length = 0;
    table.forget(['a.example']);
    assert.equal(table.find('a.example')?.state, 'closed');
    assert.equal(table.find('b.example'), b);
    assert.deepEqual(asked, ['a.example']);
  });

  test('a new name takes its host from the wildcard, and returns it when it is removed', () => {
    const { table, specs } = tableOf(['*.example']);
    assert.equal(table.find('a.example')?.name, '*.example');
    specs.set('a.example', { spec: spec('a.example'), revision: 2 });
    table.forget(['a.example']);
    assert.equal(table.find('a.example')?.name, 'a.example');
    specs.delete('a.example');
    table.forget(['a.example']);
    assert.equal(table.find('a.example')?.name, '*.example');
  });

  test('forgetting everything reads everything anew', () => {
    const { table, specs } = tableOf(['a.example']);
    assert.ok(table.find('a.example'));
    specs.clear();
    table.forget(undefined);
    assert.equal(table.find('a.example'), undefined);
  });

  test('a bounded number of sites is kept', () => {
    const { table, asked } = tableOf(['a.example', 'b.example', 'c.example'], 1);
    table.find('a.example');
    table.find('b.example');
    table.forget(['c.example']);
    asked.length = 0;
    table.find('b.example');
    table.find('a.example');
    assert.deepEqual(asked, ['a.example']);
  });

  test('a site includes its purges; forgetting its name reads those anew, forgetting none changes nothing', () => {
    const { table, purges, asked } = tableOf(['a.example']);
    assert.equal(table.find('a.example')?.purges, undefined);
    purges.push({ kind: 'site', target: '', appliedAt: 7 });
    table.forget([]);
    assert.equal(table.find('a.example')?.purges, undefined);
    assert.deepEqual(asked, ['a.example']);
    table.forget(['a.example']);
    const site = table.find('a.example');
    assert.ok(site !== undefined && Object.isFrozen(site));
    assert.equal(purgedAt(site, 'a.example', '/x'), 7);
  });

  test('sites with many purges take the place of several', () => {
    const { table, purges, asked } = tableOf(['a.example', 'b.example'], 51);
    for (let n = 0; n < 1000; n++) purges.push({ kind: 'url', target: `a.example/${n}`, appliedAt: n });
    const read = (name: string) => {
      asked.length = 0;
      table.forget(['c.example']); // hosts are looked up anew, what is compiled stays
      assert.equal(table.find(name)?.name, name);
      return asked.length;
    };
    assert.deepEqual([read('a.example'), read('a.example'), read('b.example'), read('a.example')], [1, 0, 1, 1]);
  });

  test('a spec that does not compile is no site', () => {
    const { table, specs } = tableOf([]);
    specs.set('a.example', { spec: { ...spec('a.example'), id: 0 }, revision: 1 });
    assert.equal(table.find('a.example'), undefined);
  });
});

function tableOf(names: readonly string[], maxSites = 100) {
  const specs = new Map(names.map((name) => [name, { spec: spec(name), revision: 1 }]));
  const asked: string[] = [];
  const getSpec = (name: string) => {
    asked.push(name);
    return specs.get(name);
  };
  const purges: SitePurge[] = [];
  const table: SiteTable = createSiteTable({
    source: {
      getSpec,
      purgesOf: () => purges,
      getCertificate: () => undefined,
      getAddressList: () => undefined,
      urlKeysOf: () => [],
    },
    maxSites,
  });
  return { table, asked, specs, purges };
}

function spec(name: string, state: SiteSpec['state'] = 'open'): SiteSpec {
  const origins = {
    protocol: 'http',
    primary: [{ host: 'o.example' }],
    backup: [],
    hostHeader: '',
    probePath: '',
  } as const;
  return { id: 1, name, type: 'static', state, origins };
}
