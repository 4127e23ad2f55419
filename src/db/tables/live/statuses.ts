/** Saves what a live process has on air: one statement for each table, however many streams a report names. */
import { sql, type Transaction } from 'kysely';
import { type LiveStatus, sumViewers } from '#model/live-stream.ts';
import type { Schema } from '../../schema/schema.ts';
import { rowList } from '../../statements/lists.ts';

/**
 * Saves the streams of one edge. A broadcast that control considered crashed while its edge was silent is on air again.
 * Broadcasts that ended otherwise, or that belong to another edge, are not changed.
 */
export async function saveStatuses(
  trx: Transaction<Schema>,
  edge: string,
  statuses: readonly LiveStatus[],
): Promise<void> {
  if (statuses.length === 0) return;
  const rows = statuses.map((status) => {
    const { domainId, app, stream, broadcast, lastMediaAt, viewers } = status;
    return [domainId, app, stream, broadcast, lastMediaAt, sumViewers(viewers), JSON.stringify(status)];
  });
  const named = sql`
    (select cast(value ->> 0 as integer) as domain_id, value ->> 1 as app, value ->> 2 as stream, value ->> 3 as broadcast,
      cast(value ->> 4 as bigint) as last_media_at, cast(value ->> 5 as integer) as viewers, value ->> 6 as status
      from ${rowList(trx, rows)}) as v`;
  const isNamed = (table: 'live_broadcast' | 'live_stream' | 'b') => {
    const at = (column: string) => sql.ref(`${table}.${column}`);
    return sql`${at('domain_id')} = v.domain_id and ${at('app')} = v.app and ${at('stream')} = v.stream
      and ${at('broadcast')} = v.broadcast`;
  };
  await sql`
    update live_broadcast set last_media_at = v.last_media_at, ended_at = 0, end_reason = '',
      peak_viewers = case when peak_viewers < v.viewers then v.viewers else peak_viewers end
    from ${named}
    where ${isNamed('live_broadcast')} and live_broadcast.edge = ${edge}
      and (live_broadcast.ended_at = 0 or live_broadcast.end_reason = 'crashed')`.execute(trx);
  await sql`
    update live_stream set ended_at = 0, status = v.status
    from ${named}
    where ${isNamed('live_stream')}
      and exists (select 1 from live_broadcast as b where ${isNamed('b')} and b.edge = ${edge} and b.ended_at = 0)`.execute(
    trx,
  );
}
