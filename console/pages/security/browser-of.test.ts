import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from './browser-of.ts';

const LIKE = 'AppleWebKit/537.36 (KHTML, like Gecko)';

test('browsers and systems are known by what they send', () => {
  const rows = [
    [`Mozilla/5.0 (X11; Linux x86_64) ${LIKE} HeadlessChrome/156.0.0.0 Safari/537.36`, 'Chrome', 'Linux'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${LIKE} Chrome/156.0.0.0 Safari/537.36 Edg/156.0`, 'Edge', 'Windows'],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:150.0) Gecko/20100101 Firefox/150.0', 'Firefox', 'macOS'],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) ${LIKE} Version/26.0 Mobile Safari/604.1`,
      'Safari',
      'iOS',
    ],
    [`Mozilla/5.0 (Linux; Android 16; K) ${LIKE} Chrome/156.0.0.0 Mobile Safari/537.36`, 'Chrome', 'Android'],
    ['curl/8.14.1', 'curl', undefined],
    ['', undefined, undefined],
  ] as const;
  for (const [agent, browser, system] of rows) assert.deepEqual(browserOf(agent), { browser, system }, agent);
});
