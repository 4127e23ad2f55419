/** A control that is killed while somebody accepts an invitation: all of it has happened, or nothing. docs/decisions/0665 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import pg from 'pg';
import { createClient } from '#client/client.ts';
import { PASSWORD, secretOf } from '../support/api/people.ts';
import { newPostgres } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningService, startService } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';

/** Begins to accept an invitation; the answer never comes. `again` does it once more. */
async function beginToAccept({ controlUrl, token }: RunningService) {
  const client = createClient({ baseUrl: controlUrl, accessToken: token });
  const { link } = await client.call('member.invite', { email: 'han@example.com', role: 'viewer' });
  const accept = { secret: secretOf(link), name: 'Han', password: PASSWORD };
  const lost = client.call('invitation.accept', accept).then(
    () => 'answered',
    () => 'lost',
  );
  return { lost, accept };
}

/** The supervisor starts control again, on another port. */
async function acceptAgain(service: RunningService, accept: Record<string, string>): Promise<unknown> {
  return await eventually('control is there again', async () => {
    const answer = await fetch(`${service.controlUrl}/invitation/accept`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(accept),
    }).catch(() => undefined);
    return answer === undefined || answer.status !== 200 ? undefined : await answer.json();
  });
}

test('a kill in the middle of accepting leaves the invitation as it was (SQLite)', async (t) => {
  const service = await startService(t);
  const open = (timeout: number) => new DatabaseSync(join(service.dataDir, 'causeway.db'), { timeout });
  const [file, patient] = [open(0), open(10_000)];
  t.after(() => [file, patient].map((one) => one.close()));
  // What becomes a member never ends.
  patient.exec(`create view endless as with recursive c(n) as (select 1 union all select n + 1 from c) select n from c;
    create trigger stall before insert on membership begin select count(*) from endless; end`);
  const { lost, accept } = await beginToAccept(service);
  await eventually('the transaction is open', () => isLocked(file));
  process.kill(service.pids()['control'] ?? 0, 'SIGKILL');
  assert.equal(await lost, 'lost');
  await eventually('the lock is gone', () => !isLocked(file));
  const count = (table: string) => patient.prepare(`select count(*) as n from ${table}`).get()?.['n'];
  assert.deepEqual([count('person'), count('membership'), count('invitation')], [0, 0, 1]);
  patient.exec('drop trigger stall');
  assert.partialDeepStrictEqual(await acceptAgain(service, accept), { data: { next: 'done' } });
  assert.deepEqual([count('person'), count('membership'), count('invitation')], [1, 1, 0]);
});

function isLocked(file: DatabaseSync): boolean {
  try {
    file.exec('begin immediate; rollback');
    return false;
  } catch {
    return true; // SQLITE_BUSY
  }
}

test('a kill in the middle of accepting leaves the invitation as it was (PostgreSQL)', needs('postgres'), async (t) => {
  const { url = '' } = await newPostgres(t);
  const service = await startService(t, { settings: { DATABASE_URL: url } });
  const locker = new pg.Client(url);
  locker.on('error', () => undefined); // the database is dropped with its connections
  await locker.connect();
  t.after(() => locker.end());
  await locker.query('begin; lock table membership in exclusive mode');
  const { lost, accept } = await beginToAccept(service);
  const waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  await eventually('the transaction waits', async () => (await locker.query(waits)).rows.length > 0);
  process.kill(service.pids()['control'] ?? 0, 'SIGKILL');
  assert.equal(await lost, 'lost');
  await locker.query('rollback');
  const count = async (table: string) => (await locker.query(`select count(*)::integer as n from ${table}`)).rows[0].n;
  const counts = async () => [await count('person'), await count('membership'), await count('invitation')];
  await eventually('the transaction is rolled back', async () => (await locker.query(waits)).rows.length === 0);
  assert.deepEqual(await counts(), [0, 0, 1]);
  assert.partialDeepStrictEqual(await acceptAgain(service, accept), { data: { next: 'done' } });
  assert.deepEqual(await counts(), [1, 1, 0]);
});
