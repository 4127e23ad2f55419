import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAuditQuery } from '../../routes/account.ts';
import { auditRequest } from './audit-request.ts';

const ROWS = [
  ['', {}],
  ['?operation=domain.ch', { operation: 'domain.ch' }],
  ['?operation=domain', {}],
  ['?operation=domain.', {}],
  ['?account=2&target_kind=domain&target_id=1001', { account_id: '2', target_kind: 'domain', target_id: '1001' }],
  ['?account=two', {}],
] as const;

test('only what the service can narrow by is asked for', () => {
  for (const [search, expected] of ROWS)
    assert.deepEqual(auditRequest(readAuditQuery(search)), { ...expected, page_size: 50 }, search);
});
