/**
 * Statements whose text depends only on the engine: it is made once per database, and each use only fills in
 * parameters. Making the text takes longer than running most statements. docs/decisions/0511
 */
import { type CompiledQuery, type Insertable, type RawBuilder, sql, type Transaction } from 'kysely';
import { memoryOf } from '../engines/db-memory.ts';
import { isPostgres } from '../engines/engine.ts';
import type { RowsQuery, RowValues } from '../engines/sqlite/messages.ts';
import type { Executor, Schema } from '../schema/schema.ts';
import { idsText, inIdsOf, rowsOf, rowsText, storableRow } from './lists.ts';

/** A statement with its parameters, or any query or `sql` of Kysely. */
export interface Statement<T> {
  compile(x: Executor): CompiledQuery<T>;
}

/** `ids`: follows an integer column, see `inIds`. `rows`: a table to select from, see `rowList`. */
type Kind = 'value' | 'ids' | 'rows';

interface ParameterTypes {
  readonly value: string | number | null;
  readonly ids: readonly number[];
  readonly rows: readonly RowValues[];
}

/** Defines a statement with parameters. `write` runs once per database and must depend only on its arguments. */
export function statement<K extends Readonly<Record<string, Kind>>, T>(
  kinds: K,
  write: (parameters: { readonly [N in keyof K]: RawBuilder<unknown> }, x: Executor) => RawBuilder<T>,
): (given: { readonly [N in keyof K]: ParameterTypes[K[N]] }) => Statement<T> {
  const make = (x: Executor) => {
    const fragments = Object.entries(kinds).map(([name, kind]) => [name, fragmentOf(x, kind, new Placeholder(name))]);
    // `as`: the names are those of K.
    const compiled = write(Object.fromEntries(fragments) as Parameters<typeof write>[0], x).compile(x);
    if (isPostgres(x)) memoryOf(x).name(compiled.sql);
    return compiled;
  };
  return (given) => ({
    compile(x) {
      const compiled = memoryOf(x).once(make, () => make(x));
      const parameterOf = (value: unknown) =>
        value instanceof Placeholder ? toParameter(x, kinds[value.key], given[value.key]) : value;
      return { ...compiled, parameters: compiled.parameters.map(parameterOf) };
    },
  });
}

/** Placeholder of a parameter: its name, or its index in a row. */
class Placeholder {
  readonly key: string | number;

  constructor(key: string | number) {
    this.key = key;
  }
}

function fragmentOf(x: Executor, kind: Kind, placeholder: Placeholder): RawBuilder<unknown> {
  if (kind === 'ids') return inIdsOf(x, sql.val(placeholder));
  return kind === 'rows' ? rowsOf(x, sql.val(placeholder)) : sql.val(placeholder);
}

function toParameter(x: Executor, kind: Kind | undefined, given: unknown): unknown {
  // `as`: the types of `statement` ensure it.
  if (kind === 'ids') return idsText(x, given as readonly number[]);
  return kind === 'rows' ? rowsText(given as readonly RowValues[]) : given;
}

type ColumnTypes = Readonly<Record<string, 'bigint' | 'integer' | 'text'>>;

/** Fragments for a statement that runs for each row. */
export interface EachRow<C extends ColumnTypes> {
  /** The values of the row. */
  readonly v: { readonly [K in keyof C]: RawBuilder<unknown> };
  /** The `from` clause that `v` needs. */
  readonly from: RawBuilder<unknown>;
  /**
   * A redundant condition: the integer column has this value of one of the rows. It makes PostgreSQL use the index,
   * however few rows it estimates the table to have.
   */
  among(column: RawBuilder<unknown>, name: keyof C & string): RawBuilder<unknown>;
  /** All values, as the source of an `insert`. */
  readonly row: RawBuilder<unknown>;
}

/** Makes the statement for rows whose values are in the order of `columns`; `undefined` if there are no rows. */
type RowStatement = (trx: Transaction<Schema>, rows: readonly RowValues[]) => Statement<unknown> | undefined;

/**
 * Rows per SQLite statement, largest first; the rest run one by one. Sixteen at once take two thirds of the time per
 * row.
 */
const ROWS_AT_ONCE = [16, 4];

/**
 * Defines a statement for many rows that returns none. SQLite runs it for each row, PostgreSQL once for all. `write`
 * must depend only on its arguments.
 */
export function rowStatement<C extends ColumnTypes>(
  columns: C,
  write: (each: EachRow<C>) => RawBuilder<unknown>,
): RowStatement {
  const onPostgres = statement({ rows: 'rows' }, ({ rows }) => write(ofList(columns, rows)));
  const define: RowStatement = (trx, rows) => {
    if (rows.length === 0) return undefined;
    if (isPostgres(trx)) return onPostgres({ rows });
    const query = memoryOf(trx).once(define, () => {
      const wide = ROWS_AT_ONCE.map((count) => ({ rows: count, text: write(ofRows(columns, count)).compile(trx).sql }));
      return rowsQuery(write(ofRow(columns)).compile(trx), wide);
    });
    return { compile: () => query(rows) };
  };
  return define;
}

/** A column of an insert: its type, and its value in the row of an item. */
type InsertedColumn<I> = readonly [type: ColumnTypes[string], value: (item: I) => RowValues[number]];

/** Columns of an insert; those with neither a default nor `null` are required. */
type InsertedColumns<T extends keyof Schema, I> = Readonly<Record<string, InsertedColumn<I>>> & {
  readonly [C in keyof Insertable<Schema[T]>]: InsertedColumn<I>;
};

/** Defines an insert of one row for each item. */
export function insertRows<T extends keyof Schema, I>(
  table: T,
  columns: InsertedColumns<T, I>,
): (trx: Transaction<Schema>, items: readonly I[]) => Statement<unknown> | undefined {
  const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)));
  const types = Object.fromEntries(Object.entries(columns).map(([name, [type]]) => [name, type]));
  const values = Object.values(columns).map(([, value]) => value);
  const insert = rowStatement(types, ({ row }) => sql`insert into ${sql.table(table)} (${names}) ${row}`);
  return (trx, items) =>
    insert(
      trx,
      items.map((item) => values.map((value) => value(item))),
    );
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

/** `values` instead of `select`, for which SQLite would journal each page. */
function ofRow<C extends ColumnTypes>(columns: C): EachRow<C> {
  const own = placeholders(columns, 0);
  const v = values(columns, (_, n) => own[n] ?? sql.lit(null));
  return { v, from: sql``, among: () => sql`true`, row: sql`values (${sql.join(own)})` };
}

/** Fragments for several rows, whose parameters follow one another. */
function ofRows<C extends ColumnTypes>(columns: C, count: number): EachRow<C> {
  const rows = Array.from({ length: count }, (_, n) => sql`(${sql.join(placeholders(columns, n))})`);
  const row = sql`values ${sql.join(rows)}`;
  // SQLite's names of the columns of `values`.
  const v = values(columns, (_, n) => sql.ref(`v.column${n + 1}`));
  return { v, from: sql`from (${row}) as v`, among: () => sql`true`, row };
}

/** Placeholders for the values of the `n`th row, from 0. */
function placeholders(columns: ColumnTypes, n: number): readonly RawBuilder<unknown>[] {
  const names = Object.keys(columns);
  return names.map((_, index) => sql.val(new Placeholder(n * names.length + index)));
}

function rowsQuery(
  compiled: CompiledQuery<unknown>,
  wide: RowsQuery<unknown>['wide'],
): (rows: readonly RowValues[]) => RowsQuery<unknown> {
  const places = compiled.parameters.map((value) => (value instanceof Placeholder ? Number(value.key) : -1));
  const parameters = compiled.parameters.map((value) => (value instanceof Placeholder ? null : value));
  return (rows) => ({ ...compiled, parameters, places, rows: rows.map(storableRow), wide });
}

function values<C extends ColumnTypes>(
  columns: C,
  make: (name: string, index: number) => RawBuilder<unknown>,
): EachRow<C>['v'] {
  // `as`: the names are those of C.
  return Object.fromEntries(Object.keys(columns).map((name, n) => [name, make(name, n)])) as EachRow<C>['v'];
}
