import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest } from './nearest.ts';

test('the nearest name is found if few letters are wrong', () => {
  const names = ['edge-id', 'edge-workers', 'locale'];
  const rows: [string, string | undefined][] = [
    ['edge-worker', 'edge-workers'],
    ['edgeworkers', 'edge-workers'],
    ['local', 'locale'],
    ['edge_id', 'edge-id'],
    ['cache', undefined],
    ['', undefined],
  ];
  for (const [text, expected] of rows) assert.equal(nearest(text, names), expected, text);
});
