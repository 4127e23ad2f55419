/** Ids for rows that are to be inserted, reserved for the caller. Unused ids are lost. */
import { sql } from 'kysely';
import { isPostgres } from '../../engines/engine.ts';
import { statement } from '../../statements/statement.ts';

type Table = 'sms_request' | 'sms_message' | 'sms_part';

/** Selects to be run together with other statements; `toIds` converts their rows to ids. */
export const selectFreeIds = {
  sms_request: freeIdsOf('sms_request'),
  sms_message: freeIdsOf('sms_message'),
  sms_part: freeIdsOf('sms_part'),
} as const;

/** All ids on PostgreSQL; the first on SQLite. */
type FreeIds = { readonly ids: readonly number[] } | { readonly first: number };

function freeIdsOf(table: Table) {
  return statement({ count: 'value' }, ({ count }, x) => {
    // PostgreSQL named the sequence when the table was created.
    return isPostgres(x)
      ? sql<FreeIds>`
          select json_agg(nextval(${sql.lit(`${table}_id_seq`)})) as ids from generate_series(1, cast(${count} as integer))`
      : sql<FreeIds>`select coalesce((select seq from sqlite_sequence where name = ${sql.lit(table)}), 0) + 1 as first`;
  });
}

/**
 * Converts the rows of `selectFreeIds`. An SQLite transaction has the database to itself, so all ids from the first on
 * are free.
 */
export function toIds([found]: readonly FreeIds[], count: number): readonly number[] {
  if (found !== undefined && 'ids' in found) return found.ids ?? [];
  const first = found?.first ?? 1;
  return Array.from({ length: count }, (_, n) => first + n);
}
