/**
 * The requests and changes by which the ways of answering are compared contain every rule, setting and field that an
 * answer may depend on: a new one fails here until they do. docs/decisions/0415
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { toSiteSpec } from '../../src/api/settings/site-spec.ts';
import { RULE_ASKS } from '../../src/edge/shortcuts/access-memo.ts';
import { REQUEST_FIELDS } from '../../src/http/request-fields.ts';
import { DEFAULT_SETTINGS, type Domain } from '../../src/model/domain.ts';
import { SITE_SETTINGS } from '../../src/model/settings.ts';
import { DENY_RULES } from '../../src/sites/access.ts';
import { compileSite } from '../../src/sites/compile.ts';
import type { SiteSpec } from '../../src/sites/spec.ts';
import { CASES } from '../support/edge/shortcuts.ts';
import { CHANGES } from '../support/edge/twins/twin-changes.ts';
import { ODD_FIELDS } from '../support/edge/twins/twin-requests.ts';

const ROOT = join(import.meta.dirname, '../..');

/** A domain with a value for every setting. */
const DOMAIN: Domain = {
  ...{ id: 1, accountId: 1, name: 'a.test', type: 'static', icpNumber: '', remark: '', state: 'open' },
  ...{ createdAt: 0, settingRevision: 1 },
  settings: {
    ...DEFAULT_SETTINGS,
    origins: ['origin.test'],
    sslControl: true,
    sslKey: 'c1',
    signing: { isOn: true, validSeconds: 60, paths: [] },
    ip: { isOn: true, entries: ['192.0.2.1'] },
  },
};
const SPEC = spec(toSiteSpec(DOMAIN));
/** Members of a spec that never change, or have a comparison of their own. */
const NOT_CHANGED: readonly string[] = ['id', 'name', 'origins'];

function spec(made: SiteSpec | undefined): SiteSpec {
  assert.ok(made !== undefined);
  return made;
}

function siteOf(change: Partial<SiteSpec>) {
  const compiled = compileSite({ ...SPEC, ...change }, 1);
  assert.ok(compiled.kind === 'site', JSON.stringify(compiled));
  return compiled.site;
}

function missingFrom(found: Iterable<string>, wanted: readonly string[]): readonly string[] {
  const names = new Set(found);
  return wanted.filter((name) => !names.has(name));
}

describe('inputs of ready answers', () => {
  const comparisons: readonly (readonly [name: string, changes: readonly Partial<SiteSpec>[]])[] = [
    ['the cases of shortcuts', CASES.map(([, { site = {} }]) => site)],
    ['the changes of twins', CHANGES],
  ];
  for (const [name, changes] of comparisons) {
    test(`every access rule is in ${name}`, () => {
      const rules = changes.flatMap(({ access }) =>
        access === undefined ? [] : Object.keys(siteOf({ access }).access),
      );
      const lists = Object.values(DENY_RULES).map(({ member }) => member);
      assert.deepEqual(missingFrom(rules, [...Object.keys(RULE_ASKS), ...lists]), []);
    });
  }

  test('every member of a spec is in the changes of the twins, and a switch with both of its values', () => {
    const wanted = Object.entries(SPEC).filter(([name]) => !NOT_CHANGED.includes(name));
    const values = wanted.flatMap(([name, value]) =>
      typeof value === 'boolean' ? [`${name} true`, `${name} false`] : [name],
    );
    const found = CHANGES.flatMap((change) =>
      Object.entries(change).map(([name, value]) => (typeof value === 'boolean' ? `${name} ${value}` : name)),
    );
    assert.deepEqual(missingFrom(found, values), []);
  });

  test('every member of a spec reaches the compiled site', () => {
    assert.deepEqual(missingFrom(Object.keys(siteOf({})), Object.keys(SPEC)), []);
  });

  test('every plain setting of a site is read by the edge', () => {
    const files = globSync('src/edge/**/*.ts', { cwd: ROOT }).filter((file) => !/\.(test|suite)\.ts$/.test(file));
    const words = files.flatMap((file) => readFileSync(join(ROOT, file), 'utf8').match(/\w+/g) ?? []);
    assert.deepEqual(missingFrom(words, Object.keys(SITE_SETTINGS)), []);
  });

  test('every field that may be read is in the requests of the twins', () => {
    const found = ['host', ...Object.keys(ODD_FIELDS).map((name) => name.toLowerCase())];
    assert.deepEqual(missingFrom(found, REQUEST_FIELDS), []);
  });
});
