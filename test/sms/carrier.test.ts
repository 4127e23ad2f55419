/**
 * The engine with its own SMPP against Net::SMPP as the carrier, which misbehaves: every fault at once, each on a connector of
 * its own. Numbers in names are public reports of faults of other software.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import type { Db } from '#db/open.ts';
import { ALONE } from '#db/peers/peers.ts';
import { saveConnector, saveRoute } from '#db/tables/sms/connectors.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { systemTimers } from '#lib/timers.ts';
import { SMPP_DEFAULTS, type SmppSettings } from '#model/sms-connector.ts';
import { connectCarrier } from '#sms/connectors/connect.ts';
import { startSmsEngine } from '#sms/engine.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';
import { checkMoney, openSmsAccount, openSmsDatabase, queueMessage, testRing } from '../support/sms/sms-queue.ts';
import { SMSC_POISONS, type Smsc, type SmscOptions, startSmsc } from '../support/sms/smsc.ts';

interface Scenario {
  readonly name: string;
  readonly smsc: SmscOptions;
  readonly settings?: Partial<SmppSettings>;
  /** Texts of the parts of each message, in the order in which they are queued. */
  readonly messages: readonly (readonly string[])[];
  /** When the parts are in these states, in order, */
  readonly states: readonly string[];
  /** this must hold. */
  check?(seen: Seen): void;
  /** While the messages wait. */
  act?(smsc: Smsc): Promise<void>;
}

interface Seen {
  readonly smsc: Smsc;
  /** What the carrier was given, as text. */
  readonly texts: readonly string[];
  readonly parts: readonly { readonly tries: number; readonly sends: number; readonly error: string }[];
}

const ONE = [['first']];
const TWO = [['first'], ['second']];

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a receipt before the response',
    smsc: { receipts: 'before' },
    messages: TWO,
    states: ['delivered', 'delivered'],
  },
  { name: 'every receipt twice', smsc: { receipts: 'twice' }, messages: TWO, states: ['delivered', 'delivered'] },
  {
    name: 'ids hexadecimal in the answer and decimal in the receipt (jasmin#1129), in receipts without dates (jsmpp#74)',
    smsc: { dialect: 'bare' },
    messages: TWO,
    states: ['delivered', 'delivered'],
  },
  {
    name: 'throttled and queue full alike (vumi#636): the order stays (jasmin#425), and so does the receipt (jasmin#796)',
    smsc: { answers: [0x58, 0x14] },
    settings: { window: 1 },
    messages: TWO,
    states: ['delivered', 'delivered'],
    check({ texts, parts }) {
      assert.deepEqual(texts, ['first', 'first', 'first', 'second']);
      assert.deepEqual(
        parts.map(({ tries, sends }) => [tries, sends]),
        [
          [0, 1],
          [0, 1],
        ],
      );
    },
  },
  {
    name: 'a refused address is not charged (jasmin#603)',
    smsc: { answers: [0x0b] },
    settings: { window: 1 },
    messages: TWO,
    states: ['failed', 'delivered'],
    check: ({ parts }) => assert.equal(parts[0]?.error, '0x0000000b'),
  },
  {
    name: 'dropped before the response: nothing is sent twice (jasmin#247)',
    smsc: { answers: ['drop'] },
    settings: { window: 1 },
    messages: TWO,
    states: ['uncertain', 'delivered'],
    check: ({ texts }) => assert.deepEqual(texts, ['first', 'second']),
  },
  {
    name: 'taken, and dropped before the response: the receipt on the next session settles it',
    smsc: { answers: ['lost'] },
    settings: { window: 1 },
    messages: TWO,
    states: ['delivered', 'delivered'],
    check: ({ texts }) => assert.deepEqual(texts, ['first', 'second']),
  },
  {
    name: 'a slow carrier is no lost response (jsmpp#63)',
    smsc: { answers: ['slow', 'slow'], slowMs: 400 },
    messages: TWO,
    states: ['delivered', 'delivered'],
    check: ({ texts }) => assert.deepEqual(texts, ['first', 'second']),
  },
  {
    name: 'no response in time',
    smsc: { answers: ['silent'] },
    settings: { responseSeconds: 1 },
    messages: ONE,
    states: ['uncertain'],
    check: ({ texts }) => assert.deepEqual(texts, ['first']),
  },
  ...(['garbage', 'short', 'long'] as const).map(
    (answer): Scenario => ({
      name: `${answer} bytes instead of a response`,
      smsc: { answers: [answer] },
      settings: { window: 1, responseSeconds: 1 },
      messages: TWO,
      states: ['uncertain', 'delivered'],
      check: ({ texts }) => assert.deepEqual(texts, ['first', 'second']),
    }),
  ),
  ...SMSC_POISONS.map(
    (answer): Scenario => ({
      name: `${answer}: a PDU that cannot be read before a response costs nothing`,
      smsc: { answers: [answer] },
      settings: { window: 1 },
      messages: TWO,
      // There is no receipt of the first.
      states: ['submitted', 'delivered'],
      check: ({ smsc, texts }) => assert.deepEqual([texts, smsc.count('bind')], [['first', 'second'], 1]),
    }),
  ),
  {
    name: 'a long message: every part has its receipt (jasmin#1123, jasmin#789), one reference (php8-smpp#36), one connector (jasmin#765)',
    smsc: {},
    messages: [['one', 'two', 'three']],
    states: ['delivered', 'delivered', 'delivered'],
    check({ smsc }) {
      const headers = smsc.submits().map(({ text }) => text.slice(0, 12));
      assert.deepEqual(headers, ['050003070301', '050003070302', '050003070303']);
      assert.ok(smsc.submits().every(({ registered }) => registered === 1));
    },
  },
  {
    name: 'a carrier that refuses the bind: nothing is tried over and over (jasmin#1036), and all goes out later',
    smsc: { bindStatus: 0x0d },
    messages: ONE,
    states: ['delivered'],
    async act(smsc) {
      await eventually('the bind was refused', () => smsc.count('bind') > 0);
      smsc.order({ do: 'set', options: { bindStatus: 0 } });
    },
    check: ({ texts, parts }) => {
      assert.deepEqual(texts, ['first']);
      assert.deepEqual(
        parts.map(({ tries, sends }) => [tries, sends]),
        [[0, 1]],
      );
    },
  },
  {
    name: 'a carrier that is killed and comes back',
    smsc: { answers: ['silent'] },
    settings: { window: 1 },
    messages: TWO,
    states: ['uncertain', 'delivered'],
    async act(smsc) {
      await eventually('one is out', () => smsc.submits().length === 1);
      await smsc.restart();
    },
    check: ({ texts }) => assert.deepEqual(texts, ['first', 'second']),
  },
];

describeOnBothEngines('a carrier at fault', (newDatabase) => {
  test(
    'a carrier at fault leaves every part settled, none charged twice and none sent twice',
    needs('netSmpp'),
    async (t) => {
      const db = await openSmsDatabase(await newDatabase(t));
      const ring = testRing();
      const account = await openSmsAccount(db, { now: Date.now() });
      const worlds = await Promise.all(
        SCENARIOS.map(async (scenario, n) => {
          const smsc = await startSmsc(t, scenario.smsc);
          const number = `+8613${String(n).padStart(2, '0')}0000000`;
          const settings: SmppSettings = {
            ...{
              ...SMPP_DEFAULTS,
              kind: 'smpp',
              host: '127.0.0.1',
              port: smsc.port,
              systemId: 'cw',
              password: 'secret',
            },
            ...scenario.settings,
          };
          await db.transaction(async (trx) => {
            const id = await saveConnector(trx, ring, { name: `c${n}`, enabled: true, settings }, 1);
            await saveRoute(trx, { prefix: number, connectorIds: [id] });
          });
          return { scenario, smsc, number };
        }),
      );
      const engine = await startSmsEngine({
        ...{ db, ring, connect: connectCarrier, owner: randomUUID(), chargeAt: 'submit' },
        post: () => Promise.resolve({ kind: 'failed', reason: 'none' }),
        ...{ peers: ALONE, clock: systemClock, timers: systemTimers, random: () => 0, registry: new Registry() },
        log: createLogger({ level: 'silent', name: 'test' }),
      });
      t.after(async () => {
        await engine.stop(0);
        await db[Symbol.asyncDispose]();
      });
      const now = Date.now();
      for (const { scenario, number } of worlds)
        for (const [n, texts] of scenario.messages.entries())
          await queueMessage(db, account, { destination: number, route: number, texts, now: now + n });
      engine.wake();
      await Promise.all(
        worlds.map(({ scenario, smsc, number }) => t.test(scenario.name, () => run(db, scenario, smsc, number))),
      );
      await checkMoney(db);
    },
  );
});

async function run(db: Db, scenario: Scenario, smsc: Smsc, number: string): Promise<void> {
  await scenario.act?.(smsc);
  const parts = await eventually(
    `the parts are ${scenario.states}`,
    async () => {
      const rows = await partsTo(db, number);
      assert.deepEqual(
        rows.map(({ state }) => state),
        scenario.states,
      );
      return rows;
    },
    60_000,
  );
  const texts = smsc.submits().map(({ text, esmClass }) => textOf(text, (esmClass & 0x40) !== 0));
  scenario.check?.({ smsc, texts, parts });
}

async function partsTo(db: Db, number: string) {
  return await db.query
    .selectFrom('sms_part')
    .innerJoin('sms_message', 'sms_message.id', 'sms_part.message_id')
    .select(['sms_part.state', 'sms_part.tries', 'sms_part.sends', 'sms_part.error'])
    .where('sms_message.destination', '=', number)
    .orderBy('sms_part.id')
    .execute();
}

/** UCS-2, after its header if it has one. */
function textOf(hex: string, hasHeader: boolean): string {
  const bytes = Buffer.from(hex, 'hex').subarray(hasHeader ? 6 : 0);
  return bytes.swap16().toString('utf16le');
}
