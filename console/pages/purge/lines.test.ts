import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MAX_ITEMS_PER_CALL } from '#contract/domains/cache-operations.ts';
import { MAX_LINES, purgeOf, quotasOf, readLines } from './lines.ts';

describe('lines of a purge', () => {
  test('a URL that ends with / is a directory; blanks, empty lines and repetitions go', () => {
    const text = ' http://a.example/1.jpg\r\n\nhttp://a.example/img/\rHTTPS://a.example/x?y=1/\nhttp://a.example/1.jpg';
    assert.deepEqual(readLines(text, 'purge'), [
      { number: 1, text: 'http://a.example/1.jpg', kind: 'url' },
      { number: 3, text: 'http://a.example/img/', kind: 'directory' },
      { number: 4, text: 'HTTPS://a.example/x?y=1/', kind: 'directory' },
    ]);
  });

  test('a line says what is wrong with it', () => {
    const problems: readonly (readonly [line: string, problem: string | undefined])[] = [
      ['a.example/1.jpg', 'notUrl'],
      ['ftp://a.example/1.jpg', 'notUrl'],
      ['http://a.example', 'notUrl'],
      ['http://a.example/a b', 'notUrl'],
      ['http://[/', 'notUrl'],
      [`http://a.example/${'a'.repeat(2032)}`, 'tooLong'],
      [`http://a.example/${'a'.repeat(2031)}`, undefined],
      ['http://a.example/图.jpg', undefined],
    ];
    for (const [line, problem] of problems) assert.equal(readLines(line, 'purge')[0]?.problem, problem, line);
  });

  test('a directory cannot be prefetched', () => {
    assert.equal(readLines('http://a.example/img/', 'prefetch')[0]?.problem, 'directory');
  });

  test('the call has the lists that have something in them', () => {
    assert.deepEqual(purgeOf(readLines('http://a.example/1\nhttp://a.example/2/', 'purge')), {
      urls: ['http://a.example/1'],
      directories: ['http://a.example/2/'],
    });
    assert.deepEqual(purgeOf(readLines('http://a.example/1', 'purge')), { urls: ['http://a.example/1'] });
  });

  test('the form takes as many lines as the contract', () => {
    assert.equal(MAX_LINES, MAX_ITEMS_PER_CALL);
  });

  test('quotas are those of the act, and never below nothing', () => {
    const limits = {
      purge_urls: { limit: 1000, used: 20 },
      purge_directories: { limit: 100, used: 130 },
      prefetch_urls: { limit: 50, used: 0 },
    };
    const lines = readLines('http://a.example/1\nhttp://a.example/2/\nhttp://a.example/3', 'purge');
    assert.deepEqual(quotasOf(limits, 'purge', lines), [
      { name: 'purge_urls', limit: 1000, left: 980, asked: 2 },
      { name: 'purge_directories', limit: 100, left: 0, asked: 1 },
    ]);
    assert.deepEqual(quotasOf(limits, 'prefetch', lines), [{ name: 'prefetch_urls', limit: 50, left: 50, asked: 2 }]);
  });
});
