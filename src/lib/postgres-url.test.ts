import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postgresUrls, withoutPassword } from './postgres-url.ts';

test('a URL is read for each of its hosts', () => {
  const rows: readonly [string, readonly string[] | undefined][] = [
    ['postgres://u:p@a:1/db', ['postgres://u:p@a:1/db']],
    ['postgresql://a', ['postgresql://a']],
    ['postgres://u:p@a:1,b:2/db?x=1', ['postgres://u:p@a:1/db?x=1', 'postgres://u:p@b:2/db?x=1']],
    ['postgres://u@a,b,c/db', ['postgres://u@a/db', 'postgres://u@b/db', 'postgres://u@c/db']],
    ['postgres://u:p%40,q@[::1]:5432,[::2]/db', ['postgres://u:p%40,q@[::1]:5432/db', 'postgres://u:p%40,q@[::2]/db']],
    ['postgres://u:p@a,/db', undefined],
    ['postgres://u:p@,a/db', undefined],
    ['postgres://u:p@a:port,b/db', undefined],
    ['postgres://u:p@a b/db', undefined],
    ['postgres://u:a@b@c,d/db', ['postgres://u:a@b@c/db', 'postgres://u:a@b@d/db']],
    ['postgres:///db?host=/run/postgresql', ['postgres:///db?host=/run/postgresql']],
    ['mysql://a/db', undefined],
    ['postgres://', undefined],
    [`postgres://${Array(17).fill('a').join(',')}/db`, undefined],
  ];
  for (const [text, expected] of rows) assert.deepEqual(postgresUrls(text), expected, text);
});

test('a URL is shown with all of its hosts, and without password and parameters', () => {
  assert.equal(withoutPassword('postgres://me:hush@a:1/db?password=hush'), 'postgres://me@a:1/db');
  assert.equal(withoutPassword('postgres://me:hush@a:1,b/db?password=hush'), 'postgres://me@a:1,b/db');
  assert.equal(withoutPassword('postgres://a,b/db'), 'postgres://a,b/db');
});
