import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeUsage } from './quotas.ts';

test('a quota is told at 80 percent, and as worse when it is used up; one that allows nothing is not', () => {
  const account = { accountId: 7, name: 'shop', day: '2026-01-31' };
  const limits = { purgeUrls: 10, purgeDirectories: 100, prefetchUrls: 0 };
  const told = (purgeUrls: number, purgeDirectories = 0) =>
    judgeUsage(account, { purgeUrls, purgeDirectories, prefetchUrls: 0 }, limits).map(
      ({ key, level, accountId }) => `${accountId}: ${key} ${level}`,
    );
  assert.deepEqual(told(7, 79), []);
  assert.deepEqual(told(8), ['7: 7 purgeUrls 2026-01-31 0']);
  assert.deepEqual(told(10, 80), ['7: 7 purgeUrls 2026-01-31 1', '7: 7 purgeDirectories 2026-01-31 0']);
  assert.deepEqual(told(12), ['7: 7 purgeUrls 2026-01-31 1'], 'the limit was lowered');
});
