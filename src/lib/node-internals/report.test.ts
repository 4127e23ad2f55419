import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportNodeInternals } from './report.ts';

test('every part that uses internals of Node is on with the pinned version', () => {
  assert.deepEqual(linesOf(), [
    ['info', { sharedReading: 'on', directWrite: 'on', unsentBytes: 'on', httpReader: 'on' }],
  ]);
});

test('a part that this Node does not allow is a warning', () => {
  assert.deepEqual(linesOf({ one: () => true, other: () => false }), [['warn', { one: 'on', other: 'off' }]]);
});

function linesOf(parts?: Record<string, () => boolean>): unknown[] {
  const lines: unknown[] = [];
  const take = (level: string) => (fields: unknown) => void lines.push([level, fields]);
  reportNodeInternals({ info: take('info'), warn: take('warn') }, parts);
  return lines;
}
