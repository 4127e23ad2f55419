/** The secrets in rows: where they are, which keys they need, and a row without its own. */
import { SEALED_RESOURCES } from '../rotation/sealed-resources.ts';
import { SEALED_COLUMNS } from '../rotation/sealed-secrets.ts';
import type { CataloguedTable } from './catalogue.ts';
import type { TableRow } from './tables.ts';

export interface Secret {
  /** Where it lies; what is missing after an export without secrets. */
  readonly column: string;
  /** Anything but a text that is not empty: this row has none. */
  readonly sealedIn: (row: TableRow) => unknown;
  /** The row without it; the same row: it has none; `undefined`: without it there is no such row. */
  readonly remove: (row: TableRow) => TableRow | undefined;
}

/** Throws for a row whose JSON is invalid. */
export function secretOf({ name, columns }: CataloguedTable): Secret | undefined {
  if (name === 'resource') return OF_RESOURCES;
  if (name === 'sms_app') return memberOf('settings', 'webhookSecret');
  const sealed = SEALED_COLUMNS.find(({ table }) => table === name);
  return sealed && sealedColumn(sealed.column, columns.get(sealed.column)?.isNullable === true ? null : '');
}

function sealedColumn(column: string, empty: '' | null): Secret {
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
    sealedIn: (row) => parse(row[column])[member],
    remove(row) {
      const { [member]: secret, ...others } = parse(row[column]);
      return secret === undefined ? row : { ...row, [column]: JSON.stringify(others) };
    },
  };
}

/** Secrets of resources, which are published again when the secret is set again. */
const OF_RESOURCES: Secret = {
  column: 'body',
  sealedIn(row) {
    const member = sealedMember(row);
    return member && parse(row['body'])[member];
  },
  remove: (row) => (sealedMember(row) === undefined ? row : undefined),
};

function sealedMember(row: TableRow): string | undefined {
  if (row['deleted'] !== 0) return undefined;
  return SEALED_RESOURCES.find(({ kind }) => kind === row['kind'])?.member;
}

function parse(json: unknown): TableRow {
  const value: unknown = JSON.parse(String(json));
  if (typeof value !== 'object' || value === null) throw new SyntaxError('not a JSON object');
  return { ...value };
}
