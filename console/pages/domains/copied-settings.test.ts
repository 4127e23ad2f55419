import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SAMPLE_DEFAULTS } from '#contract/changes/setting-topics-sample.ts';
import { toSet } from '../domain/settings-draft.ts';
import { copiedDraft, topicsToCopy } from './copied-settings.ts';

const defaults = SAMPLE_DEFAULTS;
const settings = {
  ...defaults,
  origin: { ...defaults.origin, data: ['192.0.2.1'] },
  cache: { ...defaults.cache, stale_cap: defaults.cache.stale_cap + 1 },
};

test('topics in which something was set are copied, but not what is about one domain', () => {
  assert.deepEqual([...topicsToCopy({ settings, defaults })], ['cache']);
  assert.deepEqual([...topicsToCopy({ settings: defaults, defaults })], []);
});

test('all settings of a topic are copied, and those of a topic that the domain has not are left out', () => {
  const set = toSet(copiedDraft(settings, new Set(['cache', 'recording'])));
  assert.deepEqual(Object.keys(set), ['cache']);
  assert.deepEqual(set.cache, settings.cache);
});
