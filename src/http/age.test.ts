import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAge, parseAge } from './age.ts';

test('Age is the first member of the first line, and nothing but digits', () => {
  const rows: [string[], number][] = [
    [[], 0],
    [['7200'], 7_200_000],
    [[' 7200 '], 7_200_000],
    [['7200, 0'], 7_200_000],
    [['0, 7200'], 0],
    [['7200', '0'], 7_200_000],
    [['0', '7200'], 0],
    [['abc'], 0],
    [['-7200'], 0],
    [['7200.0'], 0],
    [['7200;foo=bar'], 0],
    [[''], 0],
    [['2147483648'], 2_147_483_648_000],
    [['9999999999999'], 2_147_483_648_000],
  ];
  for (const [lines, expected] of rows) assert.equal(parseAge(lines), expected, JSON.stringify(lines));
});

test('Age is written in whole seconds, rounded down', () => {
  assert.equal(formatAge(0), '0');
  assert.equal(formatAge(1999), '1');
});
