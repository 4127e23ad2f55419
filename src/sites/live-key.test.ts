import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAuthKey, makeAuthKey, maskAuthKeys, readAuthKey } from './live-key.ts';

const KEY = 'aliyuncdnexp1234';
const PATH = '/video/standard/1K.html';
/** The example of Aliyun's documentation of type A. */
const VALUE = '1444435200-0-0-80cd3862d699b7118eed99103f2a3a4f';
const EXPIRES_AT = 1_444_435_200_000;
const OTHER = 'anotherkey12345678';

const ROWS = [
  { name: 'the documented example is valid', value: VALUE, now: EXPIRES_AT - 1, expected: 'valid' },
  { name: 'hexadecimal digits may be upper case', value: VALUE.toUpperCase(), now: 0, expected: 'valid' },
  { name: 'the secondary key is as good', value: VALUE, keys: [OTHER, KEY], now: 0, expected: 'valid' },
  { name: 'it expires at its second', value: VALUE, now: EXPIRES_AT, expected: 'expired' },
  { name: 'no value', value: undefined, now: 0, expected: 'missing' },
  { name: 'an empty value', value: '', now: 0, expected: 'missing' },
  { name: 'another path', value: VALUE, path: '/video/standard/2K.html', now: 0, expected: 'wrong' },
  { name: 'another key', value: VALUE, keys: [OTHER], now: 0, expected: 'wrong' },
  { name: 'no key at all', value: VALUE, keys: [], now: 0, expected: 'wrong' },
  { name: 'a later expiry', value: VALUE.replace('1444435200', '1544435200'), now: 0, expected: 'wrong' },
  { name: 'a wrong one that has expired is wrong', value: VALUE, keys: [OTHER], now: EXPIRES_AT, expected: 'wrong' },
  { name: 'three parts', value: '1444435200-0-80cd3862d699b7118eed99103f2a3a4f', now: 0, expected: 'malformed' },
  { name: 'a short hash', value: VALUE.slice(0, -1), now: 0, expected: 'malformed' },
  { name: 'an expiry that is no number', value: VALUE.replace('1444435200', '1e9'), now: 0, expected: 'malformed' },
  { name: 'something behind it', value: `${VALUE}\n`, now: 0, expected: 'malformed' },
];

for (const { name, value, path = PATH, keys = [KEY], now, expected } of ROWS) {
  test(`an address with auth_key: ${name}`, () => {
    const check = checkAuthKey({ value, path, keys, now });
    assert.equal(check.kind === 'valid' ? 'valid' : check.reason, expected);
    if (check.kind === 'valid') assert.equal(check.expiresAt, EXPIRES_AT);
  });
}

test('an auth_key is valid until its expiry, for its path only', () => {
  const expiresAt = 1_800_000_000_999;
  const value = makeAuthKey({ path: '/live/news', key: OTHER, expiresAt, random: '5f2a' });
  const check = (path: string, now: number) => checkAuthKey({ value, path, keys: [OTHER], now });
  assert.deepEqual(check('/live/news', 1_799_999_999_999), { kind: 'valid', expiresAt: 1_800_000_000_000 });
  assert.deepEqual(check('/live/news', 1_800_000_000_000), { kind: 'refused', reason: 'expired' });
  assert.deepEqual(check('/live/news.flv', 0), { kind: 'refused', reason: 'wrong' });
});

test('a key is found however its name is written, and the first one counts', () => {
  const rows = [
    ['', undefined],
    ['?x=1', undefined],
    ['?auth_key=1-2', '1-2'],
    ['auth%5Fkey=1%2D2&auth_key=3', '1-2'],
    ['?x&%61uth_key=1', '1'],
    ['?auth_key', ''],
  ] as const;
  for (const [query, value] of rows) assert.equal(readAuthKey(query), value, query);
});

test("a viewer's key is masked, however its name is written, and nothing else is", () => {
  const rows = [
    ['/live/a.flv', '/live/a.flv'],
    ['/live/a.flv?auth_key=1-2-3-4', '/live/a.flv?auth_key=***'],
    ['/live/a.flv?x=1&auth_key=1&auth_key=2&y', '/live/a.flv?x=1&auth_key=***&auth_key=***&y'],
    ['/live/a.flv?%61uth%5Fkey=1', '/live/a.flv?auth_key=***'],
    ['/auth_key=1?my_auth_key=1&auth_keys=2&%zz=1', '/auth_key=1?my_auth_key=1&auth_keys=2&%zz=1'],
    ['/live/a.flv?AUTH_KEY=1&Auth%5fKey=2', '/live/a.flv?auth_key=***&auth_key=***'],
    ['/live/a.flv?auth_key', '/live/a.flv?auth_key=***'],
    ['/live/a.flv??auth_key=1', '/live/a.flv??auth_key=***'],
    ['http://page.example.com/?auth_key=1#top', 'http://page.example.com/?auth_key=***#top'],
    // As some encoders are given it, with the wrong mark.
    ['rtmp://live.example.com/live/a&auth_key=1', 'rtmp://live.example.com/live/a&auth_key=***'],
  ];
  for (const [address = '', masked] of rows) assert.equal(maskAuthKeys(address), masked);
});
