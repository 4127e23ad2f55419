/**
 * Every table in the order in which rows can be put in: what a row refers to stands before it. The compiler asks for a table
 * that is new in the schema; a test compares order and secrets with both engines.
 */
import { CERTIFICATE_KIND } from '../certificates.ts';
import type { Schema } from '../schema.ts';

export type TableName = keyof Schema;

/** As the database gives it. */
export type Row = Readonly<Record<string, unknown>>;

interface TableTraits {
  /** How many rows the migrations make. */
  readonly seeds?: number;
  readonly secret?: Secret;
}

interface Secret {
  /** Where it lies; what is missing after an export without secrets. */
  readonly column: string;
  /** The sealed text; absent: this row has none, or it is not sealed. */
  readonly sealedIn?: (row: Row) => unknown;
  /** The row without it; the same row: it has none; `undefined`: without it there is no such row. */
  readonly remove: (row: Row) => Row | undefined;
}

export const TABLES: { readonly [T in TableName]: TableTraits } = {
  account: {},
  token: {},
  domain: {},
  config_head: { seeds: 1 },
  revision_tag: { seeds: 1 },
  resource: { secret: certificateResources() },
  edge: {},
  purge: {},
  cache_task: {},
  prefetch_outcome: {},
  cache_usage: {},
  certificate: { secret: sealedColumn('private_key', '') },
  certificate_use: {},
  log_part: {},
  stat_report: {},
  stat_sum: {},
  stat_top: {},
  sms_app: { secret: memberOf('settings', 'webhookSecret') },
  sms_app_change: {},
  sms_balance: {},
  sms_ledger: {},
  sms_price: { seeds: 2 },
  sms_request: {},
  sms_message: {},
  sms_part: {},
  sms_attempt: {},
  sms_receipt: {},
  sms_reply: {},
  sms_opt_out: {},
  sms_connector: { seeds: 1, secret: sealedColumn('secret', null) },
  sms_route: { seeds: 1 },
  sms_delivery: {},
};

// `as`: the keys of the literal above, which the compiler compares with the schema's.
export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[];

export function isTableName(name: string): name is TableName {
  return Object.hasOwn(TABLES, name);
}

function sealedColumn(column: string, empty: string | null): Secret {
  return {
    column,
    sealedIn: (row) => row[column],
    remove: (row) => (row[column] === empty ? row : { ...row, [column]: empty }),
  };
}

/** A member of a column of JSON. */
function memberOf(column: string, member: string): Secret {
  return {
    column: `${column}.${member}`,
    remove(row) {
      const { [member]: secret, ...others } = parse(row[column]);
      return secret === undefined ? row : { ...row, [column]: JSON.stringify(others) };
    },
  };
}

/** Published again when the key of the certificate is given anew. */
function certificateResources(): Secret {
  const isOne = (row: Row) => row['kind'] === CERTIFICATE_KIND && row['deleted'] === 0;
  return {
    column: 'body',
    sealedIn: (row) => (isOne(row) ? parse(row['body'])['key'] : undefined),
    remove: (row) => (isOne(row) ? undefined : row),
  };
}

/** Throws when it is no JSON object. */
function parse(json: unknown): Row {
  const value: unknown = JSON.parse(String(json));
  if (typeof value !== 'object' || value === null) throw new SyntaxError('not a JSON object');
  return { ...value };
}
