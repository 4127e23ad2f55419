import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseLocale, type Locale } from './locale.ts';

test('the language of an answer is the best that was asked for, else the setting', () => {
  const rows: readonly [string | undefined, Locale, Locale][] = [
    [undefined, 'zh-CN', 'zh-CN'],
    [undefined, 'en', 'en'],
    ['', 'en', 'en'],
    ['en-GB', 'zh-CN', 'en'],
    ['ZH', 'en', 'zh-CN'],
    ['zh-TW,zh;q=0.9', 'en', 'zh-CN'],
    ['fr;q=1, en;q=0.1', 'zh-CN', 'en'],
    ['en;q=0.1, zh;q=0.2', 'en', 'zh-CN'],
    ['en, zh', 'zh-CN', 'en'],
    ['*', 'en', 'en'],
    ['fr, *;q=0.5', 'en', 'en'],
    ['en;q=0', 'zh-CN', 'zh-CN'],
    ['en;q=2', 'zh-CN', 'zh-CN'],
    ['en;q=', 'zh-CN', 'zh-CN'],
    ['english', 'zh-CN', 'zh-CN'],
    [`${'fr,'.repeat(10_000)}en`, 'zh-CN', 'zh-CN'],
  ];
  for (const [header, fallback, expected] of rows) {
    assert.equal(chooseLocale(header, fallback), expected, String(header).slice(0, 40));
  }
});
