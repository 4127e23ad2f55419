import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alsoInvalidated, doesInvalidate } from './invalidate.ts';

test('every method that is not known to be safe invalidates, unless it failed', () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'M-SEARCH', 'PROPPATCH', 'FOO', 'get']) {
    assert.deepEqual(
      [200, 204, 301, 399].map((status) => doesInvalidate(method, status)),
      [true, true, true, true],
      method,
    );
    assert.deepEqual(
      [100, 400, 404, 500].map((status) => doesInvalidate(method, status)),
      [false, false, false, false],
      method,
    );
  }
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND', 'REPORT', 'SEARCH']) {
    assert.equal(doesInvalidate(method, 200), false, method);
  }
});

test('Location and Content-Location of the same origin are invalidated too', () => {
  const uri = 'http://example.com/a/b?c';
  const key = (keyPath: string, query = '') => ({ keyPath, query });
  const rows: [string[], ReturnType<typeof key>[]][] = [
    [[], []],
    [['Location', '/x'], [key('/x')]],
    [
      ['Location', 'x?y#z', 'Content-Location', '../%7ev'],
      [key('/a/x', '?y'), key('/~v')],
    ],
    [['location', 'http://EXAMPLE.com:80/x'], [key('/x')]],
    [['Location', '//example.com/x'], [key('/x')]],
    [['Location', 'http://other.com/x'], []],
    [['Location', '//other.com/x'], []],
    [['Location', 'https://example.com/x'], []],
    [['Location', 'http://example.com:81/x'], []],
    [['Location', 'javascript:alert(1)'], []],
    [['Location', 'http://'], []],
  ];
  for (const [headers, expected] of rows) assert.deepEqual(alsoInvalidated(uri, headers), expected, headers.join(' '));
});
