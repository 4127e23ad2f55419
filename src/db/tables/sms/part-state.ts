/** Tests the state of parts that a query has found by another index. */
import { type RawBuilder, sql } from 'kysely';

/**
 * The state as an expression that no index matches. Otherwise PostgreSQL might read all parts in one state, if it
 * estimated them as few when it planned the query. docs/decisions/0511
 */
export function stateOf(table: string): RawBuilder<string> {
  return sql<string>`coalesce(${sql.ref(`${table}.state`)}, '')`;
}
