/** Commits that no standby confirms: said in the log and in a metric, with a warning where messages are sold, or refused. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { createLogger } from '#lib/logger.ts';
import { watchReplication } from '#roles/control/replication.ts';
import { newPostgres, newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';
import { openSmsAccount, openSmsDatabase } from '../support/sms/sms-queue.ts';

async function watch(
  t: TestContext,
  newDatabase: typeof newPostgres,
  databaseSynchronous: 'any' | 'required',
  sells = false,
) {
  const lines: { readonly level: string; readonly msg: string }[] = [];
  const log = createLogger({
    level: 'info',
    name: 'test',
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
  });
  const registry = new Registry();
  const db = await openSmsDatabase(await newDatabase(t));
  t.after(() => db[Symbol.asyncDispose]());
  if (sells) await openSmsAccount(db, { now: 1 });
  const watching = await watchReplication({ db, databaseSynchronous, log, registry });
  t.after(() => watching?.[Symbol.asyncDispose]());
  return { lines, metrics: () => registry.metrics() };
}

test(
  'a database without a confirming standby is named at the start, in a metric, and where messages are sold',
  needs('postgres'),
  async (t) => {
    const { lines, metrics } = await watch(t, newPostgres, 'any', true);
    assert.deepEqual(lines[0]?.msg, 'no standby confirms commits of the database');
    assert.match(await metrics(), /^causeway_database_synchronous 0$/m);
    await eventually('it warns', () =>
      lines.some(({ level, msg }) => level === 'warn' && /messages may be sent twice/.test(msg)),
    );
  },
);

test('a database without a confirming standby is refused where one is required', needs('postgres'), async (t) => {
  await assert.rejects(watch(t, newPostgres, 'required'), /setting database-synchronous/);
});

test('nothing is said of SQLite', async (t) => {
  const { lines, metrics } = await watch(t, newSqlite, 'any', true);
  assert.deepEqual([lines, (await metrics()).trim()], [[], '']);
});
