import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RareLines } from './rare-lines.ts';

test('a flood of lines is cut short, by domain, and the next line tells how many were left out', () => {
  const written: unknown[] = [];
  let now = 0;
  const write = (fields: unknown) => void written.push(fields);
  const lines = new RareLines({ warn: write, info: write }, () => now);
  for (let i = 0; i < 1_000; i++) lines.warn(7, { i }, 'refused');
  assert.equal(written.length, 10);
  lines.warn(8, { other: true }, 'refused');
  lines.warn(undefined, { none: true }, 'refused');
  lines.warn(7, { failed: true }, 'failed');
  assert.equal(written.length, 13);
  now = 6_000;
  lines.warn(7, { i: 1_000 }, 'refused');
  lines.warn(7, { i: 1_001 }, 'refused');
  assert.deepEqual(written.slice(13), [{ i: 1_000, leftOut: 990 }]);
});
