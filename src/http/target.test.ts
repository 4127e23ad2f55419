import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hasDotSegments, normalizePath, pathAtOrigin, splitTarget } from './target.ts';

test('paths that RFC 3986 calls equivalent become one; all others stay apart', () => {
  const rows: [string, string][] = [
    ['/', '/'],
    ['/a/b', '/a/b'],
    ['/A', '/A'],
    ['/a/', '/a/'],
    ['//a//b', '//a//b'],
    ['/%61%2d%2E%5f%7e%41', '/a-._~A'],
    ['/%2f', '/%2F'],
    ['/%c3%A9', '/%C3%A9'],
    ['/\u00c3\u00a9', '/%C3%A9'],
    ['/%20', '/%20'],
    ['/%25', '/%25'],
    ['/%2561', '/%2561'],
    ['/a/./b', '/a/b'],
    ['/a/../b', '/b'],
    ['/a/..', '/'],
    ['/a/.', '/a/'],
    ['/a/b/..', '/a/'],
    ['/..', '/'],
    ['/../../a', '/a'],
    ['/a//../b', '/a/b'],
    ['/%2e%2E/a', '/a'],
    ['/a/%2e%2e%2fb', '/a/..%2Fb'],
    ['/.a/..b/c.', '/.a/..b/c.'],
    ['/a/...', '/a/...'],
    ["/a+b&c=d;e@f:g!$'()*,", "/a+b&c=d;e@f:g!$'()*,"],
  ];
  for (const [path, expected] of rows) assert.equal(normalizePath(path), expected, path);
});

test('the query is kept as written', () => {
  assert.deepEqual(splitTarget('/%61?b=%61&a'), { keyPath: '/a', query: '?b=%61&a' });
  assert.deepEqual(splitTarget('/a?'), { keyPath: '/a', query: '?' });
  assert.deepEqual(splitTarget('/a?b?../c'), { keyPath: '/a', query: '?b?../c' });
  assert.deepEqual(splitTarget('*'), { keyPath: '*', query: '' });
});

test('dot segments are recognised in every spelling', () => {
  for (const path of ['/.', '/..', '/a/../b', '/a/%2E./b', '/%2e', '/a/..?b', '/.?'])
    assert.equal(hasDotSegments(path), true, path);
  for (const path of ['/a/..%2fb', '/a%2F..', '/a%2f.%2E/b', '/a\\..\\b', '/a%5C..%5cb', '/a%5c..?b', '/%2e%2e%2fb'])
    assert.equal(hasDotSegments(path), true, path);
  for (const path of [
    '/',
    '/.a',
    '/a..',
    '/...',
    '/a%2f.b',
    '/a..%5cb',
    '/a/..%252f',
    '/a%252f..b',
    '/a?b%2f..',
    '/a?/../b',
    '/a?b=/.',
  ])
    assert.equal(hasDotSegments(path), false, path);
});

test('a path is converted as origins do that decode it and merge slashes', () => {
  const rows: [path: string, read: string | undefined][] = [
    ['/', undefined],
    ['/a/b.c/', undefined],
    ['/%20%C3%A9%3F%23%252F', undefined],
    ['/%2Fa', '/a'],
    ['/a%2Fb', '/a/b'],
    ['/a%5Cb\\c', '/a/b/c'],
    ['//a///b//', '/a/b/'],
    ['/a/%2F%2Fb', '/a/b'],
    ['/a%26b%3Bc%7C%22', '/a&b;c|"'],
    ['/a%2526%26%20', '/a%2526&%20'],
  ];
  for (const [path, read] of rows) {
    assert.equal(normalizePath(path), path);
    assert.equal(pathAtOrigin(path), read, path);
  }
});

test('law: normalizing twice is normalizing once, and nothing climbs above the root', () => {
  const part = fc.constantFrom('/', '.', '..', '%2e', '%2F', '%61', 'a', '%C3', '\u00e9', '~');
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const once = normalizePath(`/${parts.join('')}`);
      assert.ok(once.startsWith('/'));
      if (!once.includes('%2F')) assert.equal(hasDotSegments(once), false, once);
      const read = pathAtOrigin(once);
      if (read !== undefined) assert.equal(pathAtOrigin(read), undefined, read);
      assert.equal(normalizePath(once), once);
    }),
  );
});
