/** Checks whether anything waits for a connector, to skip the search for turns otherwise. docs/decisions/0361 */
import { sql, type Transaction } from 'kysely';
import type { Schema } from '../../schema/schema.ts';
import { runBatch } from '../../statements/batch.ts';
import { statement } from '../../statements/statement.ts';
import { FIRST } from './turns.ts';

export interface Waiting {
  /** A part bound to the connector is due, or ordinary messages wait on its routes, due or not. */
  readonly ordinary: boolean;
  readonly advertising: boolean;
}

interface Served {
  readonly connectorId: number;
  readonly lanes: readonly { readonly route: string }[];
}

/** Reads for each connector whether parts wait for it. */
export async function readWaiting(
  trx: Transaction<Schema>,
  served: readonly Served[],
  now: number,
): Promise<readonly Waiting[]> {
  const found = await runBatch(
    trx,
    served.map(({ connectorId, lanes }) =>
      selectWaiting({ connectorId, now, routes: lanes.map(({ route }) => [route]) }),
    ),
  );
  return found.map(([row]) => ({
    ordinary: (row?.pinned ?? row?.ordinary ?? null) !== null,
    advertising: (row?.advertising ?? null) !== null,
  }));
}

/** Each subquery is one index step. */
const selectWaiting = statement(
  { connectorId: 'value', now: 'value', routes: 'rows' },
  ({ connectorId, now, routes }) => {
    const first = (priority: number) => sql`(select 1 from ${routes} where (
    select p.id from sms_part as p where p.state = 'queued' and p.route = value ->> 0 and p.priority = ${sql.lit(priority)}
      ${FIRST}) is not null limit 1)`;
    return sql<Record<'pinned' | 'ordinary' | 'advertising', number | null>>`
    select (select 1 from sms_part as p where p.state = 'queued' and p.connector_id = ${connectorId}
        and p.due_at <= ${now} limit 1) as pinned,
      ${first(0)} as ordinary, ${first(1)} as advertising`;
  },
);
