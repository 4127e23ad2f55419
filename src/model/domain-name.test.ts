import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cnameOf, conflictScope, coveringWildcards, parseDomainName, problemWithSuffix } from './domain-name.ts';

const LABEL_63 = 'a'.repeat(63);

const GOOD: readonly (readonly [written: string, name: string])[] = [
  ['www.example.com', 'www.example.com'],
  ['WWW.Example.COM.', 'www.example.com'],
  ['*.example.com', '*.example.com'],
  ['.example.com', '*.example.com'],
  ['*.a.example.co.uk', '*.a.example.co.uk'],
  ['例子.中国', 'xn--fsqu00a.xn--fiqs8s'],
  ['*.例子.com', '*.xn--fsqu00a.com'],
  ['a。b.com', 'a.b.com'],
  ['xn--fsqu00a.com', 'xn--fsqu00a.com'],
  ['site.test', 'site.test'],
  ['123.example.com', '123.example.com'],
  [`${LABEL_63}.com`, `${LABEL_63}.com`],
];

const BAD: readonly string[] = [
  '',
  '.',
  '*',
  '*.',
  '..example.com',
  'a..example.com',
  'example',
  'localhost',
  '*.com',
  '.co.uk',
  '*.github.io',
  '*.ck',
  '*.kawasaki.jp',
  '*.中国',
  '*.test',
  'www.*.com',
  'w*.example.com',
  '*.*.example.com',
  '-a.example.com',
  'a-.example.com',
  'a_b.example.com',
  '_wildcard.example.com',
  'a b.example.com',
  ' example.com',
  'example.com\n',
  'http://example.com',
  'example.com/path',
  'example.com:80',
  'user@example.com',
  'example.com?x',
  'a%2eexample.com',
  '127.0.0.1',
  '127.1',
  '0x7f.1',
  '１２７.0.0.1',
  '[::1]',
  '::1',
  'xn--a.com',
  'a\u0000.com',
  `${LABEL_63}a.com`,
  `${`${LABEL_63}.`.repeat(4)}com`,
  'example.com..',
];

describe('domain names', () => {
  test('domain names are kept in lower-case ASCII, wildcards with an asterisk', () => {
    for (const [written, name] of GOOD) {
      assert.deepEqual(parseDomainName(written), { kind: 'name', name, isWildcard: name.startsWith('*.') }, written);
    }
  });

  test('invalid domain names are refused with a reason', () => {
    for (const written of BAD) {
      const parsed = parseDomainName(written);
      assert.equal(parsed.kind, 'invalid', JSON.stringify(written));
      assert.ok(parsed.kind === 'invalid' && parsed.reason.length > 5, JSON.stringify(written));
    }
  });

  test('domain names with a scheme are refused with that reason', () => {
    const reason = 'has a scheme: write the name alone, as in www.example.com';
    for (const written of ['http://a.b.com/', 'https://*.b.com'])
      assert.deepEqual(parseDomainName(written), { kind: 'invalid', reason });
  });

  test('domain names are covered by the wildcards above them, nearest first', () => {
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ['a.b.example.com', ['*.b.example.com', '*.example.com', '*.com']],
      ['example.com', ['*.com']],
      ['*.example.com', ['*.com']],
      ['*.b.example.com', ['*.example.com', '*.com']],
    ];
    for (const [name, expected] of cases) assert.deepEqual(coveringWildcards(name), expected, name);
  });

  test('domain names share a scope whenever one can cover the other', () => {
    for (const [name] of [['a.b.example.com'], ['*.example.com'], ['example.com'], ['*.b.example.com']] as const) {
      assert.equal(conflictScope(name), 'example.com');
    }
    assert.equal(conflictScope('a.co.uk'), 'co.uk');
  });

  test('domain names do not overlap with the aliases of the service, and leave room for their own', () => {
    const suffix = 'cdn.example.net';
    const overlapping = [suffix, 'a.cdn.example.net', '*.cdn.example.net', '*.a.cdn.example.net', '*.example.net'];
    for (const name of overlapping) assert.match(problemWithSuffix(name, suffix) ?? '', /^overlaps with/, name);
    const free = ['example.net', 'www.example.net', 'acdn.example.net', '*.www.example.net', 'example.com'];
    for (const name of free) assert.equal(problemWithSuffix(name, suffix), undefined, name);
    // 253 characters less the suffix and its dot.
    const longest = `${'a.'.repeat(113)}example.com`;
    assert.equal(cnameOf(longest, suffix).length, 253);
    assert.equal(problemWithSuffix(longest, suffix), undefined);
    assert.match(problemWithSuffix(`a${longest}`, suffix) ?? '', /^is too long: its alias would have 254 characters$/);
    const wildcard = `*.${longest.slice(-(longest.length - 10))}`;
    assert.equal(cnameOf(wildcard, suffix).length, 253);
    assert.equal(problemWithSuffix(wildcard, suffix), undefined);
  });
});
