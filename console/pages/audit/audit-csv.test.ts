import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditCsv } from './audit-csv.ts';

const ROW = {
  event_id: '4711',
  at: 1_769_832_000_123,
  actor: 'token',
  actor_name: 'deploy, once',
  token_id: '7',
  person_id: '',
  session_id: '',
  address: '192.0.2.10',
  operation: 'config.setAdvanced',
  target_kind: 'domain',
  target_id: '1001',
  target_name: 'www.example.com',
  revision: '18',
  request_id: '01890a5d',
  changed: ['advanced.expires', 'advanced.gzip'],
} as const;

test('a row of the file is a change, with its account where it is known', () => {
  const own = auditCsv([{ ...ROW, changed: [...ROW.changed] }]).split(/\r?\n/);
  assert.match(own[0] ?? '', /^\W?at,actor,actor_name,address,operation,.*,changed$/);
  assert.match(own[1] ?? '', /^2026-01-31T04:00:00\.123Z,token,"deploy, once",192\.0\.2\.10,config\.setAdvanced,/);
  assert.match(own[1] ?? '', /,advanced\.expires advanced\.gzip$/);
  const all = auditCsv([{ ...ROW, account_id: '2', changed: [] }]).split(/\r?\n/);
  assert.match(all[0] ?? '', /^\W?at,account_id,actor,/);
  assert.match(all[1] ?? '', /^2026-01-31T04:00:00\.123Z,2,token,/);
});
