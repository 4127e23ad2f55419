/** Ids of rows that are to be inserted: nobody else gets them. Those that are not used are lost. */
import { sql, type Transaction } from 'kysely';
import { isPostgres } from './engine.ts';
import { prepare } from './prepared.ts';
import type { Schema } from './schema.ts';

/** To be run with others; `toIds` makes the ids of what it gives. */
export const selectFreeIds = prepare({ table: 'value', count: 'value' }, ({ table, count }, x) => {
  return isPostgres(x)
    ? sql<FreeId>`
        with own as materialized (select cast(pg_get_serial_sequence(${table}, 'id') as regclass) as name)
        select nextval(own.name) as id from own, generate_series(1, cast(${count} as integer))`
    : sql<FreeId>`select coalesce((select seq from sqlite_sequence where name = ${table}), 0) + 1 as id`;
});

interface FreeId {
  readonly id: number;
}

/** On SQLite a transaction has the whole database to itself, and with it all ids from the first. */
export function toIds(trx: Transaction<Schema>, rows: readonly FreeId[], count: number): readonly number[] {
  if (isPostgres(trx)) return rows.map(({ id }) => id);
  const first = rows[0]?.id ?? 1;
  return Array.from({ length: count }, (_, n) => first + n);
}
