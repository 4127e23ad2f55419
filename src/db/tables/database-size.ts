/** The size of the database on its disk. */
import { sql } from 'kysely';
import { isPostgres } from '../engines/engine.ts';
import type { Executor } from '../schema/schema.ts';

/** Returns bytes, without the log of changes that are not checkpointed yet. */
export async function readDatabaseBytes(x: Executor): Promise<number> {
  const size = isPostgres(x)
    ? sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`
    : sql<{
        bytes: number;
      }>`select c.page_count * s.page_size as bytes from pragma_page_count() as c, pragma_page_size() as s`;
  const { rows } = await size.execute(x);
  return Number(rows[0]?.bytes ?? 0);
}
