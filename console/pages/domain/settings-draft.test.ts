import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OPERATIONS } from '#contract/operations.ts';
import {
  changedOf,
  conflictsOf,
  draftedValue,
  draftProblems,
  findSetting,
  NO_DRAFT,
  resolved,
  type Setting,
  type Settings,
  toSet,
  withValue,
} from './settings-draft.ts';

const { settings } = OPERATIONS['domain.settings'].data.parse(OPERATIONS['domain.settings'].sample.data);
const COMPRESS = settingOf('advanced', 'page_compress');
const EXPIRES = settingOf('advanced', 'expires');
const AGENTS = settingOf('ua', 'ua_str');

function settingOf(topic: string, name: string): Setting {
  const setting = findSetting(topic, name);
  assert.ok(setting !== undefined);
  return setting;
}

function changed(advanced: Partial<Settings['advanced']>): Settings {
  return { ...settings, advanced: { ...settings.advanced, ...advanced } };
}

const stored = changed({ page_compress: '0', expires: '60' });

describe('a draft of settings', () => {
  test('a setting that is set back to what is stored is not changed', () => {
    const draft = withValue(NO_DRAFT, stored, COMPRESS, '1');
    assert.equal(draftedValue(draft, stored, COMPRESS), '1');
    assert.deepEqual(changedOf(draft), [COMPRESS]);
    assert.deepEqual(changedOf(withValue(draft, stored, COMPRESS, 0)), []);
  });

  test('only what is changed is sent, by topics', () => {
    const one = withValue(withValue(NO_DRAFT, stored, EXPIRES, '3600'), stored, COMPRESS, '1');
    const draft = withValue(one, stored, AGENTS, ['curl']);
    assert.deepEqual(toSet(draft), { advanced: { page_compress: '1', expires: '3600' }, ua: { ua_str: ['curl'] } });
  });

  test("another person's change of another setting is no conflict", () => {
    const draft = withValue(NO_DRAFT, stored, COMPRESS, '1');
    assert.deepEqual(conflictsOf(draft, changed({ page_compress: '0', expires: '7200' })), []);
  });

  test('a setting that two people change is a conflict with three values, which either may win', () => {
    const draft = withValue(withValue(NO_DRAFT, stored, EXPIRES, '3600'), stored, COMPRESS, '1');
    const now = changed({ page_compress: '0', expires: '7200' });
    assert.deepEqual(conflictsOf(draft, now), [{ setting: EXPIRES, base: '60', mine: '3600', now: '7200' }]);
    const mine = resolved(draft, now, new Set([EXPIRES.id]));
    assert.deepEqual(conflictsOf(mine, now), []);
    assert.deepEqual(toSet(mine), { advanced: { page_compress: '1', expires: '3600' } });
    assert.deepEqual(toSet(resolved(draft, now, new Set())), { advanced: { page_compress: '1' } });
  });

  test('two people who want the same have no conflict', () => {
    const draft = withValue(NO_DRAFT, stored, EXPIRES, '3600');
    assert.deepEqual(conflictsOf(draft, changed({ expires: '3600' })), []);
  });

  test('a value that the contract refuses is a problem of its setting', () => {
    const draft = withValue(withValue(NO_DRAFT, stored, EXPIRES, 'soon'), stored, COMPRESS, '1');
    const problems = draftProblems(draft, 'en');
    assert.deepEqual([...problems.keys()], [EXPIRES.id]);
    assert.match(
      problems.get(EXPIRES.id) ?? '',
      /^Expected a whole number of seconds, from 0 to \d+ \(a year\); found/,
    );
  });
});
