/** The process that sends messages, killed while parts are in every state, and what has become of them afterwards. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Db } from '#db/open.ts';
import { loadKeyring } from '#db/secrets/keyring.ts';
import { saveConnector, saveRoute } from '#db/tables/sms/connectors.ts';
import { rejectOptedOut } from '#db/tables/sms/sweep.ts';
import { type ConnectorSettings, SMPP_DEFAULTS, type SmppSettings } from '#model/sms-connector.ts';
import type { ChargeAt } from '#model/sms-part.ts';
import type { NewDatabase } from '../db/databases.ts';
import { eventually } from '../eventually.ts';
import { isAlive, type RunningService, startService } from '../process/service.ts';
import { temporaryFolder } from '../temporary.ts';
import { checkMoney, openSmsAccount, openSmsDatabase, queueMessage, type SmsAccount } from './sms-queue.ts';
import { type Smsc, type SmscOptions, startSmsc } from './smsc.ts';

/** A carrier for each state that a part can be in when the process dies. */
interface Scene {
  readonly smsc: SmscOptions;
  readonly settings?: Partial<SmppSettings>;
  readonly texts: readonly string[];
  /** States of its parts when the process is killed, */
  readonly before: readonly string[];
  /** and when everything has settled. */
  readonly after: readonly string[];
  /** Parts that the carrier is given in all. */
  readonly submits: number;
  /** Nothing goes to the carrier. */
  readonly isLoopback?: true;
  /** While it waits. */
  readonly isOptedOut?: true;
  /** Validity of the message, an hour by default. */
  readonly validMs?: number;
  /** When the process is back. */
  act?(smsc: Smsc, number: string, round: number): void;
}

const SCENES: readonly Scene[] = [
  {
    smsc: { bindStatus: 0x0d },
    texts: ['waits for its connector'],
    ...{ before: ['queued'], after: ['delivered'], submits: 1 },
    act: (smsc) => smsc.order({ do: 'set', options: { bindStatus: 0 } }),
  },
  {
    smsc: { answers: ['silent'] },
    texts: ['on its way'],
    ...{ before: ['submitting'], after: ['uncertain'], submits: 1 },
  },
  {
    smsc: { answers: ['silent'] },
    texts: ['on its way, and a receipt comes later'],
    ...{ before: ['submitting'], after: ['delivered'], submits: 1 },
    act: (smsc, number, round) => sendReceipt(smsc, number, String(7700 + round)),
  },
  {
    smsc: { receipts: 'none' },
    texts: ['taken'],
    ...{ before: ['submitted'], after: ['delivered'], submits: 1 },
    act: (smsc, number) => sendReceipt(smsc, number, String(Number.parseInt(smsc.submits()[0]?.id ?? '', 16))),
  },
  { smsc: { answers: ['drop'] }, texts: ['lost'], before: ['uncertain'], after: ['uncertain'], submits: 1 },
  { smsc: { stat: 'UNDELIV' }, texts: ['not there'], before: ['failed'], after: ['failed'], submits: 1 },
  { smsc: {}, texts: ['there'], before: ['delivered'], after: ['delivered'], submits: 1 },
  { smsc: { answers: [0x0b] }, texts: ['refused'], before: ['failed'], after: ['failed'], submits: 1 },
  {
    smsc: { stat: 'UNKNOWN', dialect: 'bare' },
    texts: ['who knows'],
    before: ['unknown'],
    after: ['unknown'],
    submits: 1,
  },
  {
    smsc: { bindStatus: 0x0d },
    texts: ['over'],
    validMs: 1,
    ...{ before: ['expired'], after: ['expired'], submits: 0 },
  },
  {
    smsc: { bindStatus: 0x0d },
    texts: ['unwanted'],
    isOptedOut: true,
    ...{ before: ['rejected'], after: ['rejected'], submits: 0 },
  },
  { smsc: {}, isLoopback: true, texts: ['nowhere'], before: ['simulated'], after: ['simulated'], submits: 0 },
  {
    smsc: { answers: ['ok', 'silent'] },
    settings: { window: 1 },
    texts: ['one', 'two', 'three'],
    before: ['delivered', 'submitting', 'queued'],
    after: ['delivered', 'uncertain', 'delivered'],
    submits: 3,
  },
];

const HOUR_MS = 3_600_000;
/** A process that is killed again and again is started again later each time. */
const SETTLE_LIMIT_MS = 60_000;
/** Messages of the connector that is in the middle of its work. */
const LOAD = 150;
const LOAD_PREFIX = '+861399';

export async function crashSms(t: TestContext, newDatabase: NewDatabase, rounds: number): Promise<void> {
  const target = await newDatabase(t);
  // Both ways to charge, one on each engine: what a kill does to the one it does to the other.
  const chargeAt: ChargeAt = target.url === undefined ? 'submit' : 'receipt';
  const dataDir = join(temporaryFolder(t), 'data');
  const service = await startService(t, {
    dataDir,
    settings: {
      CAUSEWAY_ROLES: 'control',
      CAUSEWAY_SMS_CHARGE_AT: chargeAt,
      ...(target.url !== undefined && { DATABASE_URL: target.url }),
    },
  });
  const db = await openSmsDatabase(target.url === undefined ? { file: join(dataDir, 'causeway.db') } : target);
  t.after(() => db[Symbol.asyncDispose]());
  const ring = loadKeyring(join(dataDir, 'keyring'));
  const account = await openSmsAccount(db, { now: Date.now() });
  const connect = async (name: string, prefix: string, smsc: Smsc, scene: Partial<Scene> = {}) => {
    const whole: SmppSettings = {
      ...{ ...SMPP_DEFAULTS, kind: 'smpp', host: '127.0.0.1', port: smsc.port, systemId: 'cw', password: 'secret' },
      ...scene.settings,
    };
    const settings: ConnectorSettings = scene.isLoopback === true ? { kind: 'loopback' } : whole;
    await db.transaction(async (trx) => {
      const id = await saveConnector(trx, ring, { name, enabled: true, settings }, Date.now());
      await saveRoute(trx, { prefix, connectorIds: [id] });
    });
  };
  const load = await startSmsc(t);
  await connect('load', LOAD_PREFIX, load, { settings: { window: 20 } });
  for (let round = 0; round < rounds; round += 1) {
    const smscs = await Promise.all(SCENES.map(({ smsc }) => startSmsc(t, smsc)));
    for (const [n, smsc] of smscs.entries()) await connect(`s${n}`, numberOf(n), smsc, SCENES[n]);
    await crashOnce({ db, service, account, load, smscs, round, chargeAt });
    await Promise.all(smscs.map((smsc) => smsc.stop()));
    await db.query
      .deleteFrom('sms_route')
      .where(
        'prefix',
        'in',
        SCENES.map((_, n) => numberOf(n)),
      )
      .execute();
  }
  assert.equal(await service.stop(), 0);
}

interface Round {
  readonly db: Db;
  readonly service: RunningService;
  readonly account: SmsAccount;
  readonly load: Smsc;
  readonly smscs: readonly Smsc[];
  readonly round: number;
  readonly chargeAt: ChargeAt;
}

async function crashOnce({ db, service, account, load, smscs, round, chargeAt }: Round): Promise<void> {
  const now = Date.now();
  const parts: number[][] = [];
  for (const [n, { texts, validMs = HOUR_MS, isOptedOut }] of SCENES.entries()) {
    const number = numberOf(n);
    const kind = isOptedOut === true ? 'advertising' : 'ordinary';
    const message = { destination: number, route: number, kind, texts, expireAt: now + validMs, now } as const;
    parts.push(await queueMessage(db, account, message));
    if (isOptedOut === true)
      await db.transaction((trx) => rejectOptedOut(trx, [{ accountId: account.accountId, number }], now));
  }
  await expectStates(
    db,
    parts,
    SCENES.map(({ before }) => before),
    'before',
  );

  const sent = load.submits().length;
  const own: number[] = [];
  for (let n = 0; n < LOAD; n += 1) {
    const destination = `${LOAD_PREFIX}${String(round * LOAD + n).padStart(7, '0')}`;
    own.push(...(await queueMessage(db, account, { destination, route: LOAD_PREFIX, texts: [destination], now })));
  }
  const killAt = sent + ((round * 37) % LOAD);
  await eventually('the load is under way', () => load.submits().length >= killAt);
  await kill(service);

  for (const [n, { act }] of SCENES.entries()) {
    const smsc = smscs[n];
    if (smsc === undefined || act === undefined) continue;
    await eventually('its connector is back', () => smsc.count('bind') > 1, SETTLE_LIMIT_MS);
    act(smsc, numberOf(n), round);
  }
  await expectStates(
    db,
    parts,
    SCENES.map(({ after }) => after),
    'after',
  );
  assert.deepEqual(
    smscs.map((smsc) => smsc.submits().length),
    SCENES.map(({ submits }) => submits),
  );
  await checkLoad(db, own, load, sent);
  await checkMoney(db, chargeAt);
}

/** Nothing is lost, and nothing was sent twice: what the carrier has and we do not know of is uncertain. */
async function checkLoad(db: Db, own: readonly number[], load: Smsc, sent: number): Promise<void> {
  const settled = await eventually(
    'the load has settled',
    async () => {
      const states = await statesOf(db, own);
      assert.ok([...states.values()].every((state) => ['delivered', 'submitted', 'uncertain'].includes(state)));
      return states;
    },
    SETTLE_LIMIT_MS,
  );
  const given = load
    .submits()
    .slice(sent)
    .map(({ to }) => to);
  assert.equal(new Set(given).size, given.length, 'no number got two');
  const uncertain = [...settled.values()].filter((state) => state === 'uncertain').length;
  assert.ok(given.length >= own.length - uncertain, 'what is not uncertain has been sent');
  assert.ok(uncertain <= 20, `${uncertain} were on their way, more than the window`);
}

async function kill(service: RunningService): Promise<void> {
  const pid = service.pids()['control'] ?? 0;
  process.kill(pid, 'SIGKILL');
  await eventually('it is gone', () => !isAlive(pid));
  await eventually('another has taken its place', () => service.pids()['control'] !== undefined, SETTLE_LIMIT_MS);
}

function sendReceipt(smsc: Smsc, number: string, id: string): void {
  const text = Buffer.from(`id:${id} sub:001 dlvrd:001 stat:DELIVRD err:000`).toString('hex');
  smsc.order({ do: 'deliver', from: number.slice(1), to: '1069', text, esmClass: 4 });
}

async function expectStates(
  db: Db,
  parts: readonly (readonly number[])[],
  expected: readonly (readonly string[])[],
  when: string,
): Promise<void> {
  await eventually(
    `the parts have their states ${when}`,
    async () => {
      const states = await statesOf(db, parts.flat());
      assert.deepEqual(
        parts.map((ids) => ids.map((id) => states.get(id))),
        expected,
      );
      return true;
    },
    SETTLE_LIMIT_MS,
  );
}

async function statesOf(db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const rows = await db.query.selectFrom('sms_part').select(['id', 'state']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, state }) => [id, state]));
}

function numberOf(scene: number): string {
  return `+86138${String(scene).padStart(8, '0')}`;
}
