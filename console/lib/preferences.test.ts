import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPreferences } from './preferences.ts';

test("preferences begin with the browser's language", () => {
  assert.equal(readPreferences(null, ['zh-TW', 'en']).locale, 'zh-CN');
  assert.equal(readPreferences(null, ['de-DE', 'zh']).locale, 'en');
  assert.equal(readPreferences(null, []).locale, 'en');
});

test('saved preferences are read, and unknown or broken ones are replaced one by one', () => {
  const saved = JSON.stringify({ locale: 'en', theme: 'dark', zone: 'mars', density: 7 });
  assert.deepEqual(readPreferences(saved, ['zh']), { locale: 'en', theme: 'dark', zone: 'service', density: 'normal' });
  for (const broken of ['{', 'null', '7', '"en"']) assert.equal(readPreferences(broken, ['zh']).theme, 'system');
});
