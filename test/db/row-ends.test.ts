/** The rows of every table have an end: a function that deletes them, or a reason why there are never many. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TableName } from '#db/export/tables.ts';

const TABLES = join(import.meta.dirname, '../../src/db/tables');

/** The file of `src/db/tables/` that deletes them. */
type End = `${string}.ts` | { readonly kept: string };

/** A table that is new does not compile until it is here. */
const ENDS: Readonly<Record<TableName, End>> = {
  account: { kept: 'made by an operator' },
  token: 'tokens.ts',
  kept_answer: 'kept-answers.ts',
  person: { kept: 'invited by others; one who leaves is disabled' },
  membership: 'people/members.ts',
  passkey: 'people/passkeys.ts',
  recovery_code: 'people/factors.ts',
  invitation: 'people/invitations.ts',
  session: 'people/sessions.ts',
  used_challenge: 'people/passkeys.ts',
  sign_in_try: 'people/tries.ts',
  domain: { kept: 'added by customers; a deleted one stays for its logs' },
  audit_event: 'audit.ts',
  domain_revision: 'domain-revisions.ts',
  config_head: { kept: 'one row' },
  revision_tag: 'revision-tags.ts',
  resource: 'resources.ts',
  edge: { kept: 'one row for each edge' },
  fleet: { kept: 'one row' },
  fleet_authority: { kept: 'one row, two while it is being changed' },
  edge_token: 'fleet/edge-tokens.ts',
  edge_certificate: 'fleet/edge-certificates.ts',
  event: 'events/events.ts',
  event_condition: 'events/conditions.ts',
  event_webhook: 'events/webhooks.ts',
  event_delivery: 'events/webhooks.ts',
  edge_group: 'edge-groups.ts',
  domain_group: 'edge-groups.ts',
  view_key: 'view-keys.ts',
  address_list: 'address-lists.ts',
  address_list_use: 'address-lists.ts',
  purge: 'purges.ts',
  cache_task: 'cache-tasks.ts',
  prefetch_outcome: { kept: 'deleted with its task' },
  cache_usage: 'cache-tasks.ts',
  certificate: 'certificates.ts',
  certificate_use: 'certificates.ts',
  acme_account: { kept: 'one row for each authority' },
  certificate_order: { kept: 'one row for each domain' },
  live_stream: 'live/streams.ts',
  live_broadcast: 'live/history.ts',
  live_viewers: 'live/history.ts',
  live_keys: 'live/streams.ts',
  live_process: { kept: 'one row for each live process' },
  live_recording: 'live/recordings.ts',
  live_recording_piece: 'live/recordings.ts',
  log_part: 'log-parts.ts',
  stat_report: 'statistics.ts',
  stat_sum: 'statistics.ts',
  stat_account: 'statistics.ts',
  stat_top: 'statistics.ts',
  sms_app: { kept: 'made by an operator' },
  sms_app_change: 'sms/apps.ts',
  sms_balance: { kept: 'one row for each account' },
  sms_ledger: { kept: 'its sum is the balance (docs/decisions/0286)' },
  sms_price: 'sms/balance.ts',
  sms_request: 'sms/retention.ts',
  sms_message: 'sms/retention.ts',
  sms_part: 'sms/retention.ts',
  sms_attempt: 'sms/retention.ts',
  sms_receipt: 'sms/retention.ts',
  sms_reply: 'sms/retention.ts',
  sms_unread: 'sms/retention.ts',
  sms_opt_out: 'sms/opt-outs.ts',
  sms_connector: 'sms/connectors.ts',
  sms_route: 'sms/connectors.ts',
  sms_delivery: 'sms/retention.ts',
  sms_delivery_attempt: 'sms/retention.ts',
  sms_watch: 'sms/message-watch.ts',
  control: 'controls.ts',
  lease: 'leases.ts',
};

test('every table has a file that deletes its rows, or a reason to keep them', () => {
  const deletes = (table: string, file: string) =>
    new RegExp(`deleteFrom\\('${table}'\\)|delete from ${table}\\b`).test(readFileSync(join(TABLES, file), 'utf8'));
  const files = Object.entries(ENDS).flatMap(([table, end]) =>
    typeof end === 'string' ? [[table, end] as const] : [],
  );
  assert.ok(files.length > 20);
  assert.deepEqual(
    files.filter(([table, file]) => !deletes(table, file)),
    [],
  );
});
