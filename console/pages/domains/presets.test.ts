import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PRESET_NAMES, presetOf, presetSet } from './presets.ts';

test('the settings of a preset stand under their topics', () => {
  assert.deepEqual(presetSet('website'), { advanced: { page_compress: '1' }, cache: { stale_cap: '259200' } });
  assert.deepEqual(presetSet('api').cache, { heuristic_cap: '0', stale_cap: '0' });
  assert.deepEqual(presetSet(''), {});
});

test('every preset suits a type, and live streams have none', () => {
  assert.deepEqual(['1', '2', '3', '6'].map(presetOf), PRESET_NAMES);
  assert.equal(presetOf('4'), '');
});
