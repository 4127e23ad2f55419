/** Two services on one PostgreSQL behind HAProxy, a carrier that allows one session, and the verdict at the end. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import type { Db } from '#db/open.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { eventually } from '../eventually.ts';
import { checkMoney, openSmsDatabase, readParts } from '../sms/sms-queue.ts';
import { type Smsc, startSmsc } from '../sms/smsc.ts';
import { temporaryFolder } from '../temporary.ts';
import { ControlLoad } from './control-load.ts';
import { startHaproxy } from './haproxy.ts';
import { type RunningService, startService } from './service.ts';

export interface ControlsWorld {
  readonly services: readonly RunningService[];
  readonly smsc: Smsc;
  /** Client whose calls go through HAProxy. */
  readonly operator: Client;
  readonly load: ControlLoad;
}

/** A machine that many tests share takes long, and a fail-over by Patroni half a minute. */
const LIMIT_MS = 240_000;

/** Declare the test with `needs('netSmpp', 'haproxy')`. */
export async function startControlsWorld(t: TestContext, databaseUrl: string): Promise<ControlsWorld> {
  const settings = sharedSettings(t, databaseUrl);
  const services = [await startService(t, { settings }), await startService(t, { settings })];
  const smsc = await startSmsc(t, { single: true });
  const servers = services.map(({ controlUrl }) => ({ port: Number(new URL(controlUrl).port) }));
  const port = await startHaproxy(t, { mode: 'http', check: '/readyz', servers });
  const accessToken = services.map(({ token }) => token).find((text) => text !== '') ?? '';
  const operator = createClient({ baseUrl: `http://127.0.0.1:${port}`, accessToken, timeoutMs: 40_000 });
  const appKey = await sellBy(operator, smsc);
  const host = 'www.example.com';
  await operator.call('domain.add', { domain: host, cdn_type: '1', data: '192.0.2.1' });
  const load = new ControlLoad({ client: operator, appKey, host });
  t.after(() => load.stop());
  return { services, smsc, operator, load };
}

export function sharedSettings(t: TestContext, databaseUrl: string): Readonly<Record<string, string>> {
  return {
    DATABASE_URL: databaseUrl,
    CAUSEWAY_ROLES: 'control,edge',
    CAUSEWAY_KEYRING: join(temporaryFolder(t), 'keyring'),
    CAUSEWAY_LOG_STORE_SHARED: 'true',
    CAUSEWAY_STOP_DELAY_SECONDS: '0',
    CAUSEWAY_TOKEN_RATE_PER_SECOND: '10000',
    CAUSEWAY_TOKEN_RATE_BURST: '10000',
    CAUSEWAY_PURGE_URLS_PER_DAY: '1000000',
  };
}

/** Makes an app, and a route to the carrier. Returns the app's key. */
export async function sellBy(operator: Client, { port }: Pick<Smsc, 'port'>, rate = 0): Promise<string> {
  const { app_key } = await operator.call('smsOperator.createApp', { name: 'load', balance: 10_000_000 });
  const carrier = { host: '127.0.0.1', port, system_id: 'cw', password: 'secret', rate };
  await operator.call('smsOperator.setConnector', { name: 'carrier', ...carrier });
  await operator.call('smsOperator.setRoute', { prefix: '+86', connectors: ['carrier'] });
  return app_key;
}

/** Waits until nothing is under way and both edges have every change; returns how much was lost, and sent twice. */
export async function judge(t: TestContext, { services, smsc, load }: ControlsWorld, primaryUrl: string) {
  const db = await openSmsDatabase({ url: primaryUrl, file: '' });
  t.after(() => db[Symbol.asyncDispose]());
  await eventually(
    'no message waits or is on its way',
    async () => (await readParts(db)).every(({ state }) => state !== 'queued' && state !== 'submitting'),
    LIMIT_MS,
  );
  await eventually('the ledger is the balance', () => checkMoney(db).then(() => true), LIMIT_MS);
  await untilAtHead(services, db);
  const stored = await readStored(db);
  const lost = load.acknowledged.filter(({ what }) => !stored.has(what));
  const sent = smsc.submits().map(({ to }) => `+${to}`);
  const twice = sent.filter((to, n) => sent.indexOf(to) !== n);
  return {
    acknowledged: load.acknowledged.length,
    failed: load.failed.length,
    lost: lost.length,
    sent: sent.length,
    /** Numbers that got their message more than once. */
    twice,
    /** Numbers of `twice` whose message is not in the database. */
    twiceUnknown: twice.filter((to) => !stored.has(to)),
    uncertain: (await readParts(db)).filter(({ state }) => state === 'uncertain').length,
  };
}

/** Resolves when both edges run the newest revision. */
export async function untilAtHead(services: readonly RunningService[], db: Pick<Db, 'query'>): Promise<void> {
  await eventually(
    'both edges are at the head',
    async () => {
      const { revision } = await readConfigHead(db.query);
      for (const service of services) assert.equal(await appliedRevision(service), revision);
      return true;
    },
    LIMIT_MS,
  );
}

export async function appliedRevision({ metricsUrl }: RunningService): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  return Number(/^causeway_feed_applied_revision(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1] ?? 0);
}

async function readStored(db: Db): Promise<ReadonlySet<string>> {
  const domains = await db.query.selectFrom('domain').select('name').execute();
  const messages = await db.query.selectFrom('sms_message').select('destination').execute();
  const tasks = await db.query.selectFrom('cache_task').select('items').execute();
  return new Set([
    ...domains.map(({ name }) => name),
    ...messages.map(({ destination }) => destination),
    ...tasks.flatMap(({ items }) => items.match(/http:\/\/[^"\\]+/g) ?? []),
  ]);
}
