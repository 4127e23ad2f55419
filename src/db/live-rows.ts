/** What every change of live streams begins with. */
import type { Transaction } from 'kysely';
import type { StreamName } from '#model/live-stream.ts';
import { takeLock } from './engine.ts';
import type { Executor, LiveStreamRow, Schema } from './schema.ts';

/** Whoever changes streams or marks takes this before reading them: one lock for all, so nobody waits in a circle. */
export async function lockLive(trx: Transaction<Schema>): Promise<void> {
  await takeLock(trx, 'live');
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
