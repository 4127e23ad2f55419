/** Two services on one PostgreSQL under load, whose primary is killed again and again, and what has become of everything. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, createClient } from '#client/client.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { startReplicas } from '../db/replicas.ts';
import { eventually } from '../eventually.ts';
import { checkMoney, openSmsDatabase, readParts } from '../sms/sms-queue.ts';
import { type Smsc, startSmsc } from '../sms/smsc.ts';
import { temporaryFolder } from '../temporary.ts';
import { type RunningService, startService } from './service.ts';

export interface FailOverFigures {
  readonly acknowledged: number;
  readonly failed: number;
  /** Acknowledged changes and messages that are not in the database at the end. */
  readonly lost: number;
  /** Messages that the carrier got more than once. */
  readonly sentTwice: number;
  /** Longest time from the end of a primary to the next acknowledged call, by service. */
  readonly longestMs: number;
}

const LIMIT_MS = 240_000;
/** Calls acknowledged by each service between two fail-overs. */
const CALM = 6;
const SENDERS = 2;

export async function failOver(
  t: TestContext,
  { rounds, isSynchronous }: { readonly rounds: number; readonly isSynchronous: boolean },
): Promise<FailOverFigures> {
  const replicas = await startReplicas(t, { isSynchronous });
  const settings = sharedSettings(t, replicas.url);
  const services = [await startService(t, { settings }), await startService(t, { settings })];
  const smsc = await startSmsc(t, { single: true });
  const token = services.map(({ token: text }) => text).find((text) => text !== '') ?? '';
  const clients = services.map(({ controlUrl }) =>
    createClient({ baseUrl: controlUrl, accessToken: token, timeoutMs: 30_000 }),
  );
  const [operator] = clients as [Client];
  const appKey = await sellBy(operator, smsc);
  const load = new Load(clients, appKey);
  t.after(() => load.stop());
  let longestMs = 0;
  for (let round = 0; round < rounds; round += 1) {
    const before = load.counts();
    await eventually(
      'calls are acknowledged',
      () => load.counts().every((n, i) => n >= (before[i] ?? 0) + CALM),
      LIMIT_MS,
    );
    const diedAt = performance.now();
    await replicas.failOver();
    const after = load.counts();
    const back = load
      .counts()
      .map((_, i) =>
        eventually('it serves again', () => (load.counts()[i] ?? 0) > (after[i] ?? 0), LIMIT_MS).then(
          () => performance.now() - diedAt,
        ),
      );
    longestMs = Math.max(longestMs, ...(await Promise.all(back)));
    await replicas.repair();
  }
  await load.stop();
  return { ...(await judge(t, replicas.primaryUrl, { load, smsc, services })), longestMs: Math.round(longestMs) };
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

/** Adds domains, purges them and sends messages, by each service; what fails is not repeated. */
class Load {
  readonly domains: string[] = [];
  readonly messages: string[] = [];
  failed = 0;
  readonly #counts: number[];
  readonly #running: readonly Promise<void>[];
  #isStopped = false;
  #n = 0;

  constructor(clients: readonly Client[], appKey: string) {
    this.#counts = clients.map(() => 0);
    this.#running = clients.flatMap((client, i) => Array.from({ length: SENDERS }, () => this.#run(client, i, appKey)));
  }

  /** Calls acknowledged by each service. */
  counts(): readonly number[] {
    return [...this.#counts];
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  async #run(client: Client, i: number, appKey: string): Promise<void> {
    while (!this.#isStopped) {
      this.#n += 1;
      const n = this.#n;
      try {
        if (n % 2 === 0) await this.#send(client, appKey, `138${String(n).padStart(8, '0')}`);
        else await this.#change(client, `d${n}.example.com`);
        this.#counts[i] = (this.#counts[i] ?? 0) + 1;
      } catch {
        this.failed += 1;
        await delay(50);
      }
    }
  }

  async #send(client: Client, appKey: string, mobile: string): Promise<void> {
    await client.call('sms.ordinary', { app_key: appKey, mobile, content: `load ${mobile}`, time: String(Date.now()) });
    this.messages.push(`+86${mobile}`);
  }

  async #change(client: Client, domain: string): Promise<void> {
    await client.call('domain.add', { domain, cdn_type: '1', data: '192.0.2.1' });
    this.domains.push(domain);
    await client.call('cache.purge', { urls: [`http://${domain}/a`] });
  }
}

interface Outcome {
  readonly load: Load;
  readonly smsc: Smsc;
  readonly services: readonly RunningService[];
}

async function judge(t: TestContext, url: string, { load, smsc, services }: Outcome) {
  const db = await openSmsDatabase({ url, file: '' });
  t.after(() => db[Symbol.asyncDispose]());
  await eventually(
    'nothing waits or is on its way',
    async () => (await readParts(db)).every(({ state }) => state !== 'queued' && state !== 'submitting'),
    LIMIT_MS,
  );
  await eventually('the money is right', () => checkMoney(db).then(() => true), LIMIT_MS);
  await eventually(
    'both edges are at the head',
    async () => {
      const { revision } = await readConfigHead(db.query);
      for (const service of services) assert.equal(await appliedRevision(service), revision);
      return true;
    },
    LIMIT_MS,
  );
  const stored = new Set([
    ...(await db.query.selectFrom('domain').select('name').execute()).map(({ name }) => name),
    ...(await db.query.selectFrom('sms_message').select('destination').execute()).map(({ destination }) => destination),
  ]);
  const acknowledged = [...load.domains, ...load.messages];
  const sent = smsc.submits().map(({ to }) => to);
  return {
    acknowledged: acknowledged.length,
    failed: load.failed,
    lost: acknowledged.filter((one) => !stored.has(one)).length,
    sentTwice: sent.length - new Set(sent).size,
  };
}

async function appliedRevision({ metricsUrl }: RunningService): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  return Number(/^causeway_feed_applied_revision(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1]);
}
