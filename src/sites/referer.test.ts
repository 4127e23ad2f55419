import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseRefererEntry, RefererList } from './referer.ts';

describe('an entry of a Referer list', () => {
  const rows: readonly (readonly [text: string, entry: string | undefined])[] = [
    ['example.com', 'example.com'],
    [' EXAMPLE.com. ', 'example.com'],
    ['https://example.com/shop/?a#b', 'example.com'],
    ['http://*.example.com/', '*.example.com'],
    ['.example.com', '*.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['example.com:8080', 'example.com:8080'],
    ['192.0.2.1', '192.0.2.1'],
    ['[2001:DB8::1]:81', '[2001:db8::1]:81'],
    ['localhost', 'localhost'],
    ['*', '*'],
    ['', undefined],
    ['*.', undefined],
    ['*.192.0.2.1', undefined],
    ['*.*.example.com', undefined],
    ['exam*ple.com', undefined],
    ['example.com:0', undefined],
    ['a b', undefined],
    ['user@example.com', undefined],
  ];
  for (const [text, entry] of rows) {
    test(`"${text}" ${entry === undefined ? 'is refused' : `is ${entry}`}`, () => {
      const parsed = parseRefererEntry(text);
      assert.equal(parsed.kind === 'entry' ? parsed.entry : undefined, entry);
    });
  }
});

describe('which pages are on the list', () => {
  const rows: readonly (readonly [entry: string, referer: string, isListed: boolean])[] = [
    ['example.com', 'http://example.com', true],
    ['example.com', 'https://EXAMPLE.com./a?b', true],
    ['example.com', 'https://a.b.example.com:8443/', true],
    ['example.com', 'https://notexample.com/', false],
    ['example.com', 'https://example.com.cn/', false],
    ['example.com', 'https://evil.test/?example.com', false],
    ['example.com', 'https://example.com@evil.test/', false],
    ['*.example.com', 'https://a.b.example.com/', true],
    ['*.example.com', 'https://example.com/', false],
    ['example.com:8080', 'http://example.com:8080/', true],
    ['example.com:8080', 'http://a.example.com:8080/', true],
    ['example.com:8080', 'http://example.com/', false],
    ['example.com:443', 'https://example.com/', true],
    ['192.0.2.1', 'http://192.0.2.1:81/', true],
    ['192.0.2.1', 'http://192.0.2.10/', false],
    ['192.0.2.1', 'http://a.192.0.2.1.example/', false],
    ['[2001:db8::1]', 'http://[2001:db8:0::1]/', true],
    ['xn--bcher-kva.example', 'http://b\u00fccher.example/', true],
    ['xn--bcher-kva.example', 'http://b\u00c3\u00bccher.example/', true],
    ['*', 'http://anything.test/', true],
  ];
  for (const [entry, referer, isListed] of rows) {
    test(`${referer} is ${isListed ? '' : 'not '}on a list of ${entry}`, () => {
      const rules = { allowsBlank: true, entries: ['other.test', entry] };
      assert.equal(new RefererList({ mode: 'deny', ...rules }).denies(referer), isListed);
      assert.equal(new RefererList({ mode: 'allow', ...rules }).denies(referer), !isListed);
    });
  }

  test('one entry with a port and one without, and several ports', () => {
    const list = new RefererList({
      mode: 'deny',
      allowsBlank: true,
      entries: ['a.test:81', 'a.test:82', 'b.test:81', 'b.test'],
    });
    const pages = ['http://a.test:81', 'http://a.test:82', 'http://a.test:83', 'http://b.test:99'];
    assert.deepEqual(
      pages.map((page) => list.denies(page)),
      [true, true, false, true],
    );
  });

  test('a blank Referer is decided by the setting for blank ones in either mode', () => {
    for (const mode of ['deny', 'allow'] as const) {
      for (const blank of ['', 'about:blank', 'null', 'example.com', 'ftp://example.com/', 'http://', '\u00ff']) {
        for (const allowsBlank of [true, false]) {
          assert.equal(new RefererList({ mode, allowsBlank, entries: ['*'] }).denies(blank), !allowsBlank, blank);
        }
      }
    }
  });
});
