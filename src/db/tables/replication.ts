/** Whether commits of the database survive the loss of its server. docs/decisions/0581 */
import { sql } from 'kysely';
import type { Executor } from '../schema/schema.ts';

/** Whether PostgreSQL acknowledges a commit only after a standby has it. Any role may read these settings. */
export async function isSynchronous(x: Executor): Promise<boolean> {
  const { rows } = await sql<{ standbys: string; commit: string }>`
    select current_setting('synchronous_standby_names') as standbys, current_setting('synchronous_commit') as commit
  `.execute(x);
  return rows.some(({ standbys, commit }) => standbys !== '' && commit !== 'off' && commit !== 'local');
}

/** Whether an account may send messages. */
export async function isSmsInUse(x: Executor): Promise<boolean> {
  return (await x.selectFrom('sms_app').select('id').where('enabled', '=', 1).limit(1).execute()).length > 0;
}
