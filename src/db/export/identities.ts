/** Reads and sets the highest id that a table has ever assigned, so that ids of deleted rows are not reused. */
import { sql } from 'kysely';
import { isPostgres } from '../engines/engine.ts';
import type { Executor } from '../schema/schema.ts';
import type { CataloguedTable } from './catalogue.ts';

/** Returns the last assigned id; 0 if there is none. */
export async function readLastId(x: Executor, { name, identity }: CataloguedTable): Promise<number> {
  const query = isPostgres(x)
    ? sql<{ id: number | null }>`select pg_sequence_last_value(${sequenceOf(name, identity)}::regclass) as id`
    : sql<{ id: number | null }>`select max(seq) as id from sqlite_sequence where name = ${name}`;
  const { rows } = await query.execute(x);
  return rows[0]?.id ?? 0;
}

/** `id`: at least 1. */
export async function setLastId(trx: Executor, { name, identity }: CataloguedTable, id: number): Promise<void> {
  if (isPostgres(trx)) {
    await sql`select setval(${sequenceOf(name, identity)}, ${id})`.execute(trx);
    return;
  }
  await sql`delete from sqlite_sequence where name = ${name}`.execute(trx);
  await sql`insert into sqlite_sequence (name, seq) values (${name}, ${id})`.execute(trx);
}

function sequenceOf(table: string, column: string | undefined) {
  return sql`pg_get_serial_sequence(quote_ident(${table}::text), ${column}::text)`;
}
