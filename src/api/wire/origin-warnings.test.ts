import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EdgeReport, OriginTrouble } from '#model/edge.ts';
import { compileSite } from '#sites/compile.ts';
import type { SiteSpec } from '#sites/spec.ts';
import { findOriginWarnings } from './origin-warnings.ts';

const permits = (address: string) => !address.startsWith('10.');

test('an unusable origin is found by its address, and by reports of edges', () => {
  const down = (key: string): OriginTrouble => ({ key, state: 'down' });
  const refused = (key: string): OriginTrouble => ({ key, state: 'forbidden' });
  const rows: readonly (readonly [Partial<SiteSpec['origins']>, readonly OriginTrouble[], readonly string[]])[] = [
    [{}, [], []],
    [{ primary: [{ host: '10.0.0.1' }] }, [], ['originPrivate 10.0.0.1:80']],
    [{ primary: [{ host: '10.0.0.1' }], protocol: 'https' }, [], ['originPrivate 10.0.0.1:443']],
    [
      { primary: [{ host: '10.0.0.1' }], protocol: 'follow' },
      [],
      ['originPrivate 10.0.0.1:80', 'originPrivate 10.0.0.1:443'],
    ],
    [{ backup: [{ host: '10.0.0.1', port: 81 }] }, [], ['originPrivate 10.0.0.1:81']],
    [{ primary: [{ host: '10.0.0.1' }] }, [refused('10.0.0.1:80')], ['originForbidden 10.0.0.1:80 e1']],
    [{}, [refused('o.example:80')], ['originForbidden o.example:80 e1']],
    [{}, [down('o.example:80')], ['originDown o.example:80 e1']],
    [{}, [down('o.example:81'), down('other.example:80')], []],
    [{ probePath: '/up' }, [down('o.example:80 http://www.example.com/up')], ['originDown o.example:80 e1']],
    [{ probePath: '/up' }, [down('o.example:80 http://www.example.org/up')], []],
  ];
  for (const [origins, troubles, expected] of rows) {
    const warnings = findOriginWarnings(siteWith(origins), [report(troubles)], permits);
    const found = warnings.map(({ code, origin, edge }) => [code, origin, edge].filter(Boolean).join(' '));
    assert.deepEqual(found, expected, JSON.stringify([origins, troubles]));
  }
});

function siteWith(change: Partial<SiteSpec['origins']>) {
  const primary = [{ host: 'o.example' }];
  const origins = { protocol: 'http', primary, backup: [], hostHeader: '', probePath: '', ...change } as const;
  const compiled = compileSite({ id: 1, name: 'www.example.com', type: 'static', state: 'open', origins }, 1);
  assert.ok(compiled.kind === 'site');
  return compiled.site;
}

function report(origins: readonly OriginTrouble[]): EdgeReport {
  return { edge: 'e1', appliedRevision: 1, rejected: [], origins, build: '', startedAt: 0, reportedAt: 0 };
}
