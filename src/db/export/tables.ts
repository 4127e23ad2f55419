/**
 * All tables, in an order in which rows can be inserted: referenced rows first. The compiler requires every table of
 * the schema; a test verifies the order on both engines.
 */
import type { Schema } from '../schema/schema.ts';

export type TableName = keyof Schema;

/** Row as the database returns it. */
export type TableRow = Readonly<Record<string, unknown>>;

/** Number of rows that migrations create: a database with no more rows was never used. */
export const SEEDS: { readonly [T in TableName]: number } = {
  account: 0,
  token: 0,
  kept_answer: 0,
  person: 0,
  membership: 0,
  passkey: 0,
  recovery_code: 0,
  invitation: 0,
  session: 0,
  used_challenge: 0,
  sign_in_try: 0,
  domain: 0,
  audit_event: 0,
  domain_revision: 0,
  config_head: 1,
  revision_tag: 1,
  resource: 0,
  edge: 0,
  fleet: 1,
  fleet_authority: 0,
  edge_token: 0,
  edge_certificate: 0,
  event: 0,
  event_condition: 0,
  event_webhook: 0,
  event_delivery: 0,
  edge_group: 1,
  domain_group: 0,
  view_key: 0,
  address_list: 0,
  address_list_use: 0,
  purge: 0,
  cache_task: 0,
  prefetch_outcome: 0,
  cache_usage: 0,
  certificate: 0,
  certificate_use: 0,
  acme_account: 0,
  certificate_order: 0,
  live_stream: 0,
  live_broadcast: 0,
  live_viewers: 0,
  live_keys: 0,
  live_process: 0,
  live_recording: 0,
  live_recording_piece: 0,
  log_part: 0,
  stat_report: 0,
  stat_sum: 0,
  stat_account: 0,
  stat_top: 0,
  sms_app: 0,
  sms_app_change: 0,
  sms_balance: 0,
  sms_ledger: 0,
  sms_price: 2,
  sms_request: 0,
  sms_message: 0,
  sms_part: 0,
  sms_attempt: 0,
  sms_receipt: 0,
  sms_reply: 0,
  sms_unread: 0,
  sms_opt_out: 0,
  sms_connector: 1,
  sms_route: 1,
  sms_delivery: 0,
  sms_delivery_attempt: 0,
  sms_watch: 0,
  control: 0,
  lease: 0,
};

// `as`: the keys of the literal above, which the compiler compares with the schema's.
export const TABLE_NAMES = Object.keys(SEEDS) as readonly TableName[];

/**
 * Tables whose rows are in no export: control makes a new view key when it needs one, answers are kept for a day, and
 * people sign in again. Streams of hints register again.
 */
export const NEVER_EXPORTED: readonly TableName[] = [
  'view_key',
  'kept_answer',
  'session',
  'used_challenge',
  'sign_in_try',
  'sms_watch',
];
