/** The state of parts that are named by their ids. */
import { type RawBuilder, sql } from 'kysely';

/**
 * As it is, but no index has it: by those of the parts in one state PostgreSQL would look through all of them, if it believed
 * them to be few when it made its plan. docs/decisions/0389
 */
export function stateOf(table: string): RawBuilder<string> {
  return sql<string>`coalesce(${sql.ref(`${table}.state`)}, '')`;
}
