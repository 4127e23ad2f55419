/**
 * Parts that a killed process had claimed and never written: how many there are, and that each is charged or given back, as its
 * connector says, once the carrier has told the end of all that it took. docs/decisions/0426
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Db } from '#db/open.ts';
import { loadKeyring } from '#db/secrets/keyring.ts';
import { saveConnector, saveRoute } from '#db/tables/sms/connectors.ts';
import { SMPP_DEFAULTS, type UnknownAfter } from '#model/sms-connector.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { isAlive, type RunningService, startService } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';
import { openSmsAccount, openSmsDatabase, queueMessage } from '../support/sms/sms-queue.ts';
import { type Smsc, startSmsc } from '../support/sms/smsc.ts';
import { temporaryFolder } from '../support/temporary.ts';

const KILLS = 8;
const MESSAGES = 300;
const WINDOW = 100;
const PREFIX = '+861399';
const LIMIT_MS = 120_000;
const WAITED_MS = 73 * 3_600_000;

describeOnBothEngines('parts that were claimed and never sent', (newDatabase) => {
  for (const unknownAfter of ['charge', 'refund'] as const)
    test(
      `parts that were claimed and never sent are settled with unknown_after ${unknownAfter}, after ${KILLS} kills`,
      needs('netSmpp'),
      (t) => killAndSettle(t, newDatabase, unknownAfter),
    );
});

async function killAndSettle(t: TestContext, newDatabase: NewDatabase, unknownAfter: UnknownAfter): Promise<void> {
  const target = await newDatabase(t);
  const dataDir = join(temporaryFolder(t), 'data');
  const url = target.url === undefined ? {} : { DATABASE_URL: target.url };
  const service = await startService(t, { dataDir, settings: { CAUSEWAY_ROLES: 'control', ...url } });
  const db = await openSmsDatabase(target.url === undefined ? { file: join(dataDir, 'causeway.db') } : target);
  t.after(() => db[Symbol.asyncDispose]());
  const smsc = await startSmsc(t);
  const names = { host: '127.0.0.1', port: smsc.port, systemId: 'cw', password: 'secret' };
  const settings = { ...SMPP_DEFAULTS, kind: 'smpp', ...names, window: WINDOW, unknownAfter } as const;
  await db.transaction(async (trx) => {
    const ring = loadKeyring(join(dataDir, 'keyring'));
    const id = await saveConnector(trx, ring, { name: 'carrier', enabled: true, settings }, Date.now());
    await saveRoute(trx, { prefix: PREFIX, connectorIds: [id] });
  });
  const account = await openSmsAccount(db, { now: Date.now() });
  for (let n = 0; n < KILLS; n += 1) {
    const before = smsc.submits().length;
    for (let m = 0; m < MESSAGES; m += 1) {
      const destination = `${PREFIX}${String(n * MESSAGES + m).padStart(7, '0')}`;
      await queueMessage(db, account, { destination, route: PREFIX, now: Date.now() });
    }
    await eventually('the load is under way', () => smsc.submits().length >= before + 20 + ((n * 13) % 60), LIMIT_MS);
    await kill(service);
  }
  const every = async (isSettled: (row: Row) => boolean) => (await rowsOf(db)).every(isSettled);
  const settled = ['delivered', 'submitted', 'uncertain'];
  await eventually('nothing waits', () => every(({ state }) => settled.includes(state)), LIMIT_MS);
  await tellAgain(db, smsc);
  const taken = new Set(smsc.submits().map(({ to }) => `+${to}`));
  const inDoubt = (await rowsOf(db)).filter(({ state }) => state === 'uncertain');
  assert.ok(
    inDoubt.every(({ destination }) => !taken.has(destination)),
    'the carrier told of all that it took',
  );
  // As if they had waited for so long; the carrier's other parts are of today.
  const past = db.query.updateTable('sms_part').set((e) => ({ submitted_at: e('submitted_at', '-', WAITED_MS) }));
  await past.where('state', '=', 'uncertain').execute();
  await eventually('they have ended', () => every(({ state }) => state !== 'uncertain'), LIMIT_MS);
  const entries = Map.groupBy(await db.query.selectFrom('sms_ledger').selectAll().execute(), ({ part_id }) => part_id);
  const isGivenBack = (id: number) => entries.get(id)?.some(({ kind }) => kind === 'refund') === true;
  const givenBack = (await rowsOf(db)).filter(({ id }) => isGivenBack(id));
  t.diagnostic(`${KILLS * MESSAGES} parts, ${inDoubt.length} in doubt and never sent, ${givenBack.length} given back`);
  const expected = unknownAfter === 'refund' ? inDoubt.map(({ id }) => id) : [];
  assert.deepEqual(
    givenBack.map(({ id }) => id),
    expected,
  );
  assert.equal(smsc.submits().length, taken.size, 'none was sent twice');
  const balance = await db.query.selectFrom('sms_balance').select('balance').executeTakeFirstOrThrow();
  const sum = [...entries.values()].flat().reduce((total, { amount }) => total + amount, 0);
  assert.equal(sum, balance.balance, 'the ledger sums up to the balance');
  assert.equal(await service.stop(), 0);
}

/** A session that was lost had receipts under way: the carrier sends them again. */
async function tellAgain(db: Db, smsc: Smsc): Promise<void> {
  const untold = new Set(
    (await rowsOf(db)).flatMap(({ state, destination }) => (state === 'delivered' ? [] : destination)),
  );
  for (const { to, id } of smsc.submits()) {
    if (!untold.has(`+${to}`)) continue;
    const text = Buffer.from(`id:${Number.parseInt(id, 16)} sub:001 dlvrd:001 stat:DELIVRD err:000`).toString('hex');
    smsc.order({ do: 'deliver', from: to, to: '1069', text, esmClass: 4 });
  }
  const taken = new Set(smsc.submits().map(({ to }) => `+${to}`));
  const isTold = ({ state, destination }: Row) => state === 'delivered' || !taken.has(destination);
  await eventually('all that it took is delivered', async () => (await rowsOf(db)).every(isTold), LIMIT_MS);
}

type Row = Awaited<ReturnType<typeof rowsOf>>[number];

async function rowsOf(db: Db) {
  const query = db.query.selectFrom('sms_part as p').innerJoin('sms_message as m', 'm.id', 'p.message_id');
  return await query.select(['p.id', 'p.state', 'm.destination']).orderBy('p.id').execute();
}

async function kill(service: RunningService): Promise<void> {
  const pid = service.pids()['control'] ?? 0;
  process.kill(pid, 'SIGKILL');
  await eventually('it is gone', () => !isAlive(pid));
  await eventually('another has taken its place', () => service.pids()['control'] !== undefined, LIMIT_MS);
}
