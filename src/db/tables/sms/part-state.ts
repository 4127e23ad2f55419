/** The state of parts that are named by their ids. */
import { type RawBuilder, sql } from 'kysely';

/**
 * The state as an expression that no index covers: with an index on the state, PostgreSQL would read all parts in one
 * state if it took them for few when it made its plan. docs/decisions/0511
 */
export function stateOf(table: string): RawBuilder<string> {
  return sql<string>`coalesce(${sql.ref(`${table}.state`)}, '')`;
}
