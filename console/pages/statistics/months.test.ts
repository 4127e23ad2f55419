import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monthBefore } from './months.ts';

test('the month before January is December of the year before', () => {
  assert.deepEqual(['2026-12', '2026-10', '2026-01'].map(monthBefore), ['2026-11', '2026-09', '2025-12']);
});
