/**
 * A statement for many rows. On SQLite it is run for each of them, which takes half the time of reading them out of JSON; on
 * PostgreSQL once for all of them. docs/decisions/0321
 */
import { type CompiledQuery, type RawBuilder, sql, type Transaction } from 'kysely';
import { isPostgres } from '../engines/engine.ts';
import type { Row, RowsQuery } from '../engines/sqlite/rows-query.ts';
import type { Schema } from '../schema/schema.ts';
import { prepare } from './prepared.ts';
import { storableRow } from './row-list.ts';
import type { Statement } from './together.ts';

export type ColumnTypes = Readonly<Record<string, 'bigint' | 'integer' | 'text'>>;

/** Fragments to be written into a statement. */
export interface EachRow<C extends ColumnTypes> {
  /** The values of the row. */
  readonly v: { readonly [K in keyof C]: RawBuilder<unknown> };
  /** What `v` stands for. */
  readonly from: RawBuilder<unknown>;
  /**
   * A condition that goes without saying: the column, of whole numbers, has this value of one of the rows. Said, it makes
   * PostgreSQL look these up, however few rows it believes the table to have.
   */
  among(column: RawBuilder<unknown>, name: keyof C & string): RawBuilder<unknown>;
  /** All of them, as what an `insert` takes. */
  readonly row: RawBuilder<unknown>;
}

/** Makes the statement for rows whose values are in the order of `columns`; `undefined` if there are no rows. */
type RowStatement = (trx: Transaction<Schema>, rows: readonly Row[]) => Statement<unknown> | undefined;

/**
 * Rows per SQLite statement, largest first; the rest run one by one. Sixteen at once take two thirds of the time per
 * row.
 */
const ROWS_AT_ONCE = [16, 4];

/**
 * Prepares a statement as `prepare` does: `write` must depend on nothing but its arguments, and the statement returns
 * no rows.
 */
export function rowStatement<C extends ColumnTypes>(
  columns: C,
  write: (each: EachRow<C>) => RawBuilder<unknown>,
): RowStatement {
  const onPostgres = prepare({ rows: 'rows' }, ({ rows }) => write(ofList(columns, rows)));
  let onSqlite: RowQueries | undefined;
  return (trx, rows) => {
    if (rows.length === 0) return undefined;
    if (isPostgres(trx)) return onPostgres({ rows });
    onSqlite ??= rowQueries(
      write(ofRow(columns)).compile(trx),
      ROWS_AT_ONCE.map((count) => ({ rows: count, text: write(ofRows(columns, count)).compile(trx).sql })),
    );
    return { compile: () => (onSqlite as RowQueries)(rows) }; // `as`: made above
  };
}

export function insertInto(table: string, columns: ColumnTypes): RowStatement {
  const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)));
  return rowStatement(columns, ({ row }) => sql`insert into ${sql.table(table)} (${names}) ${row}`);
}

function ofList<C extends ColumnTypes>(columns: C, rows: RawBuilder<unknown>): EachRow<C> {
  const casts = Object.entries(columns).map(([name, type], n) => {
    return sql`cast(value ->> ${sql.lit(n)} as ${sql.raw(type)}) as ${sql.ref(name)}`;
  });
  const list = sql`(select ${sql.join(casts)} from ${rows}) as v`;
  const v = values(columns, (name) => sql.ref(`v.${name}`));
  return {
    v,
    from: sql`from ${list}`,
    among: (column, name) => {
      const n = Object.keys(columns).indexOf(name);
      return sql`${column} = any(array(select cast(value ->> ${sql.lit(n)} as bigint) from ${rows}))`;
    },
    row: sql`select ${sql.join(Object.values(v))} from ${list}`,
  };
}

/** `values`, not `select`: of that SQLite keeps a copy of each page, to undo it. */
function ofRow<C extends ColumnTypes>(columns: C): EachRow<C> {
  const places = placesOf(columns, 0);
  const v = values(columns, (_, n) => places[n] ?? sql.lit(null));
  return { v, from: sql``, among: () => sql`true`, row: sql`values (${sql.join(places)})` };
}

/** Several: their values stand one after the other. */
function ofRows<C extends ColumnTypes>(columns: C, count: number): EachRow<C> {
  const rows = Array.from({ length: count }, (_, n) => sql`(${sql.join(placesOf(columns, n))})`);
  const row = sql`values ${sql.join(rows)}`;
  // SQLite's names for them.
  const v = values(columns, (_, n) => sql.ref(`v.column${n + 1}`));
  return { v, from: sql`from (${row}) as v`, among: () => sql`true`, row };
}

/** Places of the values of the `n`th row, from 0. */
function placesOf(columns: ColumnTypes, n: number): readonly RawBuilder<unknown>[] {
  const names = Object.keys(columns);
  return names.map((_, index) => sql.val(new Place(n * names.length + index)));
}

/** Where a value of the row goes. */
class Place {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

type RowQueries = (rows: readonly Row[]) => RowsQuery<unknown>;

function rowQueries(compiled: CompiledQuery<unknown>, wide: RowsQuery<unknown>['wide']): RowQueries {
  const places = compiled.parameters.map((value) => (value instanceof Place ? value.index : -1));
  const parameters = compiled.parameters.map((value) => (value instanceof Place ? null : value));
  return (rows) => ({ ...compiled, parameters, places, rows: rows.map(storableRow), wide });
}

function values<C extends ColumnTypes>(
  columns: C,
  make: (name: string, index: number) => RawBuilder<unknown>,
): EachRow<C>['v'] {
  // `as`: the names are those of C.
  return Object.fromEntries(Object.keys(columns).map((name, n) => [name, make(name, n)])) as EachRow<C>['v'];
}
