/** Locates the secrets in rows, and removes them. */
import { SEALED_RESOURCES } from '../rotation/sealed-resources.ts';
import { SEALED_COLUMNS } from '../rotation/sealed-secrets.ts';
import type { CataloguedTable } from './catalogue.ts';
import type { TableRow } from './tables.ts';

export interface Secret {
  /** The secret's column. An import names it as missing after an export without secrets. */
  readonly column: string;
  /** Returns the sealed secret; anything other than a non-empty text means that this row has none. */
  readonly sealedIn: (row: TableRow) => unknown;
  /**
   * Returns the row without the secret: the same row if it has none, `undefined` if the row cannot exist without it.
   */
  readonly remove: (row: TableRow) => TableRow | undefined;
}

/**
 * Returns the secret of a table's rows, if they have one. Its functions throw `SyntaxError` for a row with invalid
 * JSON.
 */
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

/** A secret in a member of a JSON column. */
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

/** Secrets of resources, which are republished when the secret is set again. */
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
