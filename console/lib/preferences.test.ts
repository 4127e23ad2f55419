import assert from 'node:assert/strict';
import { test } from 'node:test';
import { preferencesOf, profileOf, readPreferences } from './preferences.ts';

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

test('what a person chooses in one browser is chosen in another one', () => {
  const zones = { service: 'Asia/Shanghai', own: 'Europe/Berlin' };
  for (const zone of ['service', 'own', 'utc'] as const) {
    const chosen = { locale: 'zh-CN', zone, density: 'dense' } as const;
    const { locale = '', time_zone = '', density = '' } = profileOf(chosen, zones);
    assert.deepEqual(preferencesOf({ locale, time_zone, density }, zones), chosen);
  }
  assert.deepEqual(profileOf({ theme: 'dark' }, zones), {});
  assert.deepEqual(preferencesOf({ locale: '', time_zone: '', density: 'normal' }, zones), { density: 'normal' });
  assert.equal(preferencesOf({ locale: '', time_zone: 'Asia/Tokyo', density: '' }, zones).zone, 'own');
});
