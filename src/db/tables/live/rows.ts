/** The lock and the look-up that every change of live streams begins with. */
import type { Transaction } from 'kysely';
import type { StreamName } from '#model/live-stream.ts';
import { lockInTransaction } from '../../engines/engine.ts';
import type { Executor, LiveStreamRow, Schema } from '../../schema/schema.ts';

/**
 * Lock for changes of streams or marks, to be taken before reading them: there is one for all, so no deadlock is
 * possible.
 */
export async function lockLive(trx: Transaction<Schema>): Promise<void> {
  await lockInTransaction(trx, 'live');
}

export async function findStream(
  x: Executor,
  { domainId, app, stream }: StreamName,
): Promise<LiveStreamRow | undefined> {
  return await x
    .selectFrom('live_stream')
    .selectAll()
    .where('domain_id', '=', domainId)
    .where('app', '=', app)
    .where('stream', '=', stream)
    .executeTakeFirst();
}
