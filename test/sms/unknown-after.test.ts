/** Parts of which no answer and no receipt ever came: charged, or given back where the carrier tells of all its other parts. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import type { Db } from '#db/open.ts';
import { ALONE } from '#db/peers/peers.ts';
import { saveConnector } from '#db/tables/sms/connectors.ts';
import { createLogger } from '#lib/logger.ts';
import { SMPP_DEFAULTS, type UnknownAfter } from '#model/sms-connector.ts';
import { createSmsMetrics } from '#sms/metrics.ts';
import { isReliable } from '#sms/refund-silent-parts.ts';
import { DEFAULT_WAITS, startSweeper } from '#sms/sweeper.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openSmsAccount, openSmsDatabase, queueMessage, readParts, testRing } from '../support/sms/sms-queue.ts';
import { accepted, claim, NOW, receive, store } from '../support/sms/sms-steps.ts';

const LATER = NOW + DEFAULT_WAITS.receiptMs;

test('a carrier counts as reliable if 99 of 100 parts have had their receipt, of 200 at least', () => {
  for (const [reported, unreported, expected] of [
    [200, 0, true],
    [198, 2, true],
    [199, 0, false],
    [197, 3, false],
    [0, 200, false],
    [99_000, 1_000, true],
    [98_999, 1_000, false],
  ] as const)
    assert.equal(isReliable({ reported, unreported }), expected, `${reported} and ${unreported}`);
});

describeOnBothEngines('a part without any receipt', (newDatabase) => {
  interface World {
    readonly db: Db;
    readonly connectorId: number;
    readonly inDoubt: readonly number[];
  }

  /** Three parts in doubt: one without a receipt, one with a receipt that is not final, one whose receipt is unmatched. */
  async function open(t: TestContext, create: NewDatabase, unknownAfter: UnknownAfter): Promise<World> {
    const db = await openSmsDatabase(await create(t));
    t.after(() => db[Symbol.asyncDispose]());
    const settings = { ...SMPP_DEFAULTS, kind: 'smpp', host: 'h', port: 1, systemId: 's', password: 'p' } as const;
    const row = { name: 'carrier', enabled: true, settings: { ...settings, unknownAfter } };
    const connectorId = await db.transaction((trx) => saveConnector(trx, testRing(), row, NOW));
    const account = await openSmsAccount(db, { now: NOW });
    const numbers = ['+8613800000001', '+8613800000002', '+8613800000003'];
    const inDoubt: number[] = [];
    for (const destination of numbers) inDoubt.push(...(await queueMessage(db, account, { destination, now: NOW })));
    await claim(db, { connectorId });
    await store(
      db,
      inDoubt.map((id) => [id, { kind: 'lost', error: 'timeout' }]),
    );
    const [, moving = 0] = inDoubt;
    const of = (number: string) => ({ connectorId, destination: number, number });
    const reference = { value: moving, bits: 16 };
    await receive(db, [{ ...of('+8613800000002'), reference, state: 'onTheWay', word: 'ENROUTE' }]);
    await db.query
      .insertInto('sms_receipt')
      .values({
        ...{ connector_id: connectorId, carrier_key: 'x', destination: '+8613800000003', number: '+8613800000003' },
        ...{ state: 'delivered', error: '', raw: '', received_at: NOW, part_id: null },
      })
      .execute();
    return { db, connectorId, inDoubt };
  }

  /** Lets the carrier accept `taken` parts within the last day, and report `reported` of them. */
  async function take({ db, connectorId }: World, taken: number, reported: number): Promise<void> {
    const account = await openSmsAccount(db, { now: NOW });
    const texts = Array.from({ length: taken }, (_, n) => `${n}`);
    const now = LATER - 1000;
    const ids = await queueMessage(db, account, { texts, destination: '+85291234567', now });
    await claim(db, { connectorId, limit: taken, now });
    await store(
      db,
      ids.map((id) => [id, accepted(`k${id}`)]),
      now,
    );
    const receipts = ids.slice(0, reported).map((id) => ({ connectorId, carrierKeys: [`k${id}`] }));
    await receive(
      db,
      receipts.map((receipt) => ({ ...receipt, destination: '+85291234567' })),
      now,
    );
  }

  async function sweep({ db, inDoubt }: World) {
    const metrics = createSmsMetrics(new Registry(), { lines: () => [] });
    const sweeper = startSweeper({
      ...{
        db,
        peers: ALONE,
        metrics,
        owner: 'x',
        isAlone: true,
        waits: DEFAULT_WAITS,
        chargeAt: 'submit',
        clock: () => LATER,
      },
      log: createLogger({ level: 'silent', name: 'test' }),
      underWay: () => [],
      wasSent: () => false,
      store: async () => undefined,
      onQueued: () => undefined,
    });
    const own = async () => (await readParts(db)).filter(({ id }) => inDoubt.includes(id));
    await eventually('all are given up', async () => (await own()).every(({ state }) => state !== 'uncertain'));
    await sweeper[Symbol.asyncDispose]();
    const entries = await db.query.selectFrom('sms_ledger').select(['part_id', 'kind']).execute();
    const settled = entries.filter(({ kind, part_id }) => kind !== 'hold' && inDoubt.includes(part_id ?? 0));
    const kinds = new Map(settled.map(({ part_id, kind }) => [part_id, kind]));
    return (await own()).map(({ id, state }) => `${state} ${kinds.get(id)}`);
  }

  for (const [name, unknownAfter, taken, reported, expected] of [
    ['is paid back, unless there is a sign of it', 'refund', 202, 200, 'unknown refund'],
    ['is charged by default', 'charge', 200, 200, 'unknown charge'],
    ['is charged if the carrier does not report its other parts', 'refund', 203, 200, 'unknown charge'],
    ['is charged if the carrier has accepted too few parts', 'refund', 199, 199, 'unknown charge'],
  ] as const)
    test(`a part without any receipt ${name}`, async (t) => {
      const world = await open(t, newDatabase, unknownAfter);
      await take(world, taken, reported);
      const settled = await sweep(world);
      assert.deepEqual([settled[0], settled[1]], [expected, 'unknown charge']);
      assert.notEqual(settled[2], 'unknown refund');
    });
});
