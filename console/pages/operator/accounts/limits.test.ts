import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedLimits, limitValues } from './limits.ts';

const QUOTA = { limit: 100, used: 3 };
const LIMITS = {
  requests_per_second: 0,
  domains: QUOTA,
  purge_urls: QUOTA,
  purge_directories: QUOTA,
  prefetch_urls: QUOTA,
  bandwidth_mbps: 500,
  over_bandwidth: 'nothing',
  over_since: 0,
} as const;

test('limits that were not changed are not sent', () => {
  const values = { account_id: '2', ...limitValues(LIMITS) };
  assert.deepEqual(values.requests_per_second, '');
  assert.deepEqual(changedLimits(LIMITS, values), { account_id: '2' });
  const changed = { ...values, domains: '', bandwidth_mbps: '600', over_bandwidth: 'refuse' } as const;
  assert.deepEqual(changedLimits(LIMITS, changed), {
    account_id: '2',
    domains: '',
    bandwidth_mbps: '600',
    over_bandwidth: 'refuse',
  });
});
