/**
 * A statement for many rows. On SQLite it is run for each of them, which takes half the time of reading them out of JSON; on
 * PostgreSQL once for all of them. docs/decisions/0321
 */
import { type CompiledQuery, type RawBuilder, sql, type Transaction } from 'kysely';
import { isPostgres } from './engine.ts';
import { rowList, storable } from './row-list.ts';
import type { Row, RowsQuery } from './rows-query.ts';
import type { Schema } from './schema.ts';
import type { Statement } from './together.ts';

export type ColumnTypes = Readonly<Record<string, 'bigint' | 'integer' | 'text'>>;

/** To be written into a statement. */
export interface EachRow<C extends ColumnTypes> {
  /** The values of the row. */
  readonly v: { readonly [K in keyof C]: RawBuilder<unknown> };
  /** What `v` stands for: as a clause of its own, and behind the tables of one. */
  readonly from: RawBuilder<unknown>;
  readonly andFrom: RawBuilder<unknown>;
}

/** Of `rows`, whose values stand in the order of `columns`; absent when there are none. Gives what it returns for all of them. */
export function forEachRow<C extends ColumnTypes, T>(
  trx: Transaction<Schema>,
  columns: C,
  rows: readonly Row[],
  write: (each: EachRow<C>) => RawBuilder<T>,
): Statement<T> | undefined {
  if (rows.length === 0) return undefined;
  const names = Object.keys(columns);
  if (isPostgres(trx)) {
    const casts = names.map((name, n) => {
      return sql`cast(value ->> ${sql.lit(n)} as ${sql.raw(columns[name] ?? 'text')}) as ${sql.ref(name)}`;
    });
    const list = sql`(select ${sql.join(casts)} from ${rowList(trx, rows)}) as v`;
    return write({
      v: values<C>(names, (name) => sql.ref(`v.${name}`)),
      from: sql`from ${list}`,
      andFrom: sql`, ${list}`,
    });
  }
  const statement = write({ v: values<C>(names, (_, n) => sql.val(new Place(n))), from: sql``, andFrom: sql`` });
  return { compile: (x) => rowsQuery(statement.compile(x), rows) };
}

/** Where a value of the row goes. */
class Place {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

function rowsQuery<T>(compiled: CompiledQuery<T>, rows: readonly Row[]): RowsQuery<T> {
  const places = compiled.parameters.map((value) => (value instanceof Place ? value.index : -1));
  const parameters = compiled.parameters.map((value) => (value instanceof Place ? null : value));
  const own = rows.map((row) => row.map((value) => (typeof value === 'string' ? storable(value) : value)));
  return { ...compiled, parameters, places, rows: own };
}

function values<C extends ColumnTypes>(
  names: readonly string[],
  make: (name: string, index: number) => RawBuilder<unknown>,
): EachRow<C>['v'] {
  // `as`: the names are those of C.
  return Object.fromEntries(names.map((name, n) => [name, make(name, n)])) as EachRow<C>['v'];
}
