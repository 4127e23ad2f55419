/** Several controls on one PostgreSQL before a carrier that allows one session, or a fixed number of them. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { type Db, openDatabase } from '#db/open.ts';
import { joinControls, type OpenControls } from '#db/peers/join.ts';
import { takeLeases } from '#db/tables/leases.ts';
import { saveConnector, saveRoute } from '#db/tables/sms/connectors.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { systemTimers } from '#lib/timers.ts';
import type { SmppSettings } from '#model/sms-connector.ts';
import type { ConnectorReport } from '#model/sms-connector-report.ts';
import { connectCarrier } from '#sms/connectors/connect.ts';
import { type SmsEngine, startSmsEngine } from '#sms/engine.ts';
import { type DatabaseTarget, newPostgres } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { startRelay } from '../support/relay.ts';
import { needs } from '../support/runner/needs.ts';
import { smppSettings } from '../support/sms/carrier.ts';
import { checkMoney, openSmsAccount, queueMessage, readParts, testRing } from '../support/sms/sms-queue.ts';
import { type Smsc, startSmsc } from '../support/sms/smsc.ts';

const log = createLogger({ level: 'silent', name: 'test' });
/** Short, and long enough for a crowded machine. */
const TIMES = { leaseMs: 2_500, renewMs: 300, retryMs: 100, holdMs: 2_000 };

interface Control {
  readonly engine: SmsEngine;
  readonly peers: OpenControls;
}

interface World {
  readonly target: DatabaseTarget;
  readonly db: Db;
  /** Adds a connector with a route for the numbers that begin with `prefix`. */
  connect(name: string, prefix: string, smscs: readonly Smsc[], settings?: Partial<SmppSettings>): Promise<void>;
  startControl(id: string, url?: string): Promise<Control>;
  send(prefix: string, count: number): Promise<void>;
  states(): Promise<readonly string[]>;
}

async function openWorld(t: TestContext): Promise<World> {
  const target = await newPostgres(t);
  const ring = testRing();
  const open = async (url = target.url ?? '') => {
    const db = await openDatabase({ ...target, url, log });
    t.after(() => db[Symbol.asyncDispose]());
    return db;
  };
  const db = await open();
  const account = await openSmsAccount(db, { now: systemClock() });
  let sent = 0;
  return {
    target,
    db,
    async connect(name, prefix, smscs, settings = {}) {
      const connectorIds: number[] = [];
      await db.transaction(async (trx) => {
        for (const [n, { port }] of smscs.entries())
          connectorIds.push(
            await saveConnector(
              trx,
              ring,
              { name: `${name}${n}`, enabled: true, settings: smppSettings(port, settings) },
              1,
            ),
          );
        await saveRoute(trx, { prefix, connectorIds });
      });
    },
    async startControl(id, url) {
      const own = await open(url);
      const facts = {
        ...{ build: '1.0.0', schema: '1', logStore: 'shared', keys: { k: '1' }, newestKey: 'k' },
        ...{ cnameSuffix: 'cdn.example', timeZone: 'UTC', domainStatusAs: 'int' },
      };
      const peers = await joinControls({ db: own, id, facts: () => facts, log, times: TIMES });
      peers.want('work', [{ name: 'sms-sweep', holders: 1 }]);
      const engine = await startSmsEngine({
        ...{ db: own, peers, ring, owner: randomUUID(), registry: new Registry(), chargeAt: 'submit', log },
        connect: connectCarrier,
        post: () => Promise.resolve({ kind: 'failed', reason: 'none' }),
        ...{ clock: own.clock, timers: systemTimers, random: () => 0 },
      });
      t.after(async () => {
        await engine.stop(0);
        await peers[Symbol.asyncDispose]();
      });
      return { engine, peers };
    },
    async send(prefix, count) {
      for (let n = 0; n < count; n += 1) {
        sent += 1;
        const destination = `${prefix}${String(sent).padStart(8, '0')}`;
        await queueMessage(db, account, { destination, route: prefix, texts: [`text ${sent}`], now: systemClock() });
      }
    },
    states: async () => (await readParts(db)).map(({ state }) => state),
  };
}

function binds(smsc: Smsc): readonly unknown[] {
  return smsc.events.flatMap(({ event, status }) => (event === 'bind' ? [status] : []));
}

/** Connector that every installation has, at every control. */
const LOOPBACK = 1;

const A = '+86138';
const B = '+86139';

test(
  'a carrier that allows one session gets one from two controls, and the next when its control leaves',
  needs('postgres', 'netSmpp'),
  async (t) => {
    const world = await openWorld(t);
    const smsc = await startSmsc(t, { single: true });
    await world.connect('a', A, [smsc]);
    const first = await world.startControl('first');
    await eventually('the first is bound', () => binds(smsc).length === 1);
    const second = await world.startControl('second');
    await eventually('they see each other', () => first.peers.seen === 2 && second.peers.seen === 2);
    const ofCarrier = (reports: readonly ConnectorReport[]) =>
      reports.filter(({ connectorId }) => connectorId !== LOOPBACK);
    const own = () => ofCarrier(first.engine.reports());
    await eventually('the first reports that it is bound', () => own()[0]?.sendsSince !== undefined);
    assert.deepEqual(ofCarrier(second.engine.reports()), []);
    const told = () => ofCarrier(second.peers.connectorsElsewhere.flatMap(({ reports }) => reports));
    await eventually('the second hears of it', () => told()[0]?.sendsSince !== undefined);
    assert.deepEqual(
      second.peers.connectorsElsewhere.map(({ control }) => control),
      ['first'],
    );
    assert.equal(told()[0]?.sendsSince, own()[0]?.sendsSince);
    assert.ok(Number(own()[0]?.receivesSince) >= Number(own()[0]?.sendsSince));
    await world.send(A, 20);
    await eventually('all are delivered', async () => (await world.states()).every((state) => state === 'delivered'));
    await first.engine.stop(1_000);
    await first.peers[Symbol.asyncDispose]();
    await world.send(A, 20);
    await eventually('the others, too', async () => (await world.states()).every((state) => state === 'delivered'));
    assert.deepEqual(binds(smsc), [0, 0], 'nothing was refused as already bound');
    assert.equal(smsc.submits().length, 40);
    await checkMoney(world.db);
  },
);

test(
  'a control without its database leaves the session, and another one binds; nothing is sent twice',
  needs('postgres', 'netSmpp'),
  async (t) => {
    const world = await openWorld(t);
    const relay = await startRelay(world.target.url ?? '');
    t.after(() => relay[Symbol.asyncDispose]());
    const smsc = await startSmsc(t, { single: true });
    await world.connect('a', A, [smsc]);
    const first = await world.startControl('first', relay.url);
    await eventually('the first is bound', () => binds(smsc).length === 1);
    await world.startControl('second');
    await world.send(A, 10);
    await eventually('all are delivered', async () => (await world.states()).every((state) => state === 'delivered'));
    relay.cut();
    await eventually('the second is bound', () => binds(smsc).filter((status) => status === 0).length === 2);
    assert.deepEqual(first.peers.held, []);
    await world.send(A, 10);
    await eventually('the others, too', async () => (await world.states()).every((state) => state === 'delivered'));
    assert.equal(smsc.submits().length, 20);
    relay.mend();
    await eventually('the first is back', () => first.peers.seen === 2);
    await checkMoney(world.db);
  },
);

test('two sessions of a carrier are at two controls', needs('postgres', 'netSmpp'), async (t) => {
  const world = await openWorld(t);
  const smsc = await startSmsc(t);
  await world.connect('a', A, [smsc], { sessions: 2 });
  const controls = [
    await world.startControl('first'),
    await world.startControl('second'),
    await world.startControl('third'),
  ];
  await eventually('two are bound', () => binds(smsc).length === 2);
  await eventually('they see each other', () => controls.every(({ peers }) => peers.seen === 3));
  const holders = () => controls.filter(({ peers }) => peers.held.some((name) => name.startsWith('connector:')));
  await eventually('two hold a session', () => holders().length === 2);
  await holders()[0]?.engine.stop(0);
  await holders()[0]?.peers[Symbol.asyncDispose]();
  await eventually('a third session is bound', () => binds(smsc).length === 3);
});

test(
  'the first connector of a route serves its messages also where it is bound at another control than the second',
  needs('postgres', 'netSmpp'),
  async (t) => {
    const world = await openWorld(t);
    // Its messages wait for it so long that the other control has looked at the queue meanwhile.
    const preferred = await startSmsc(t, { otherwise: 'slow', slowMs: 150 });
    const spare = await startSmsc(t);
    await world.connect('a', A, [preferred], { window: 1 });
    const first = await world.startControl('first');
    await eventually('the first is bound', () => binds(preferred).length === 1);
    const second = await world.startControl('second');
    await eventually('they see each other', () => first.peers.seen === 2 && second.peers.seen === 2);
    const idOf = async (name: string) =>
      (await world.db.query.selectFrom('sms_connector').select('id').where('name', '=', name).executeTakeFirst())?.id ??
      0;
    // The session of the connector that is made next belongs to the second control from the beginning.
    const lease = `connector:${(await idOf('a0')) + 1}`;
    await takeLeases(world.db.query, [lease], { holder: 'second', now: 0, leaseMs: 60_000 });
    await world.connect('b', B, [spare]);
    const connectorIds = [await idOf('a0'), await idOf('b0')];
    await world.db.transaction((trx) => saveRoute(trx, { prefix: A, connectorIds }));
    await eventually(
      'the second is bound to the spare one',
      () => second.peers.holds(lease) && binds(spare).length === 1,
    );
    await eventually('it knows of the preferred one', () => second.peers.isUpElsewhere(connectorIds[0] ?? 0));
    await world.send(A, 10);
    await eventually('all are delivered', async () => (await world.states()).every((state) => state === 'delivered'));
    assert.deepEqual([preferred.submits().length, spare.submits().length], [10, 0]);
  },
);
