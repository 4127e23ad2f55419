/** A control as a real service with its listener for edges, its database and its costs: for tests with many edges. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { toSiteSpec } from '#api/settings/site-spec.ts';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import type { Db } from '#db/open.ts';
import { loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { insertDomain, saveDomain } from '#db/tables/domains.ts';
import { type Change, publish } from '#db/tables/resources.ts';
import { databasePath, openDataDirectory } from '#lib/data-directory.ts';
import { DEFAULT_SETTINGS, type DomainSettings } from '#model/domain.ts';
import { eventually } from '../eventually.ts';
import { openTestDatabase } from '../feed/feed.ts';
import { freePort } from '../free-port.ts';
import { type RunningService, startService } from '../process/service.ts';
import { residentMib } from '../resident.ts';
import { temporaryFolder } from '../temporary.ts';
import { type IdentityIssuer, placeIdentity } from './issue-identities.ts';

const PER_TRANSACTION = 1000;
const POLL_MS = 10;
const TICKS_PER_SECOND = 100;

export interface LargeFleet extends IdentityIssuer {
  readonly client: Client;
  /** Port of the listener for edges; the same after a restart. */
  readonly port: number;
  /**
   * Ends control (`kill`: without a word to anybody) and starts it again. Resolves when it is ready, with the instant at
   * which the former one had ended.
   */
  restart(how: 'stop' | 'kill'): Promise<number>;
  metric(name: string): Promise<number>;
  /** Processor time of the control process since its start. */
  cpuSeconds(): number;
  /** Resident memory of the control process. */
  memoryMib(): number;
  /** Starts a whole edge that reaches control at this port. Its process has the data directory of a machine of its own. */
  startEdge(edge: string, port: number): Promise<RunningService>;
  /** Resolves when this many edges have applied the revision; polls every 10 ms. */
  untilApplied(revision: number, edges: number): Promise<void>;
  /** Resolves when this many edges have a stream. */
  untilConnected(edges: number): Promise<void>;
  /** Resolves when this many edges have reported since then, by control's clock. */
  untilReported(since: number, edges: number): Promise<void>;
}

/** `databaseUrl`: absent for SQLite. */
export async function startLargeFleet(
  t: Pick<TestContext, 'after'>,
  {
    databaseUrl,
    settings = {},
  }: { databaseUrl?: string | undefined; settings?: Readonly<Record<string, string>> } = {},
): Promise<LargeFleet> {
  const dataDir = join(temporaryFolder(t), 'data');
  const port = await freePort();
  const all = {
    CAUSEWAY_ROLES: 'control',
    CAUSEWAY_FLEET_LISTEN: `127.0.0.1:${port}`,
    CAUSEWAY_TOKEN_RATE_PER_SECOND: '10000',
    CAUSEWAY_TOKEN_RATE_BURST: '10000',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    ...settings,
  };
  const start = () => startService(t, { dataDir, settings: all });
  let control = await start();
  const { token: accessToken } = control;
  const ring = loadOrMakeKeyring(join(dataDir, 'keyring'));
  const db = await openTestDatabase({
    file: databasePath(dataDir),
    ...(databaseUrl !== undefined && { url: databaseUrl }),
  });
  t.after(() => db[Symbol.asyncDispose]());
  const clientOf = ({ controlUrl }: RunningService) => createClient({ baseUrl: controlUrl, accessToken });
  let client = clientOf(control);
  return {
    db,
    ring,
    port,
    get client() {
      return client;
    },
    async restart(how) {
      if (how === 'stop') await control.stop();
      else await killService(control);
      const endedAt = db.clock();
      control = await start();
      client = clientOf(control);
      return endedAt;
    },
    metric: (name) => readMetric(control, name),
    cpuSeconds: () => cpuSecondsOf(control.pids()['control'] ?? 0),
    memoryMib: () => residentMib(control.pids()['control'] ?? 0),
    startEdge: (edge, at) => startWholeEdge(t, { db, ring }, edge, at),
    untilApplied: (revision, edges) => untilCount(db, edges, () => countApplied(db, revision)),
    untilConnected: (edges) => untilCount(db, edges, () => readMetric(control, 'causeway_feed_connected_edges')),
    untilReported: (since, edges) => untilCount(db, edges, () => countReported(db, since)),
  };
}

async function readMetric({ metricsUrl }: RunningService, name: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  const [, value] = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text) ?? [];
  return Number(value);
}

/** Adds domains of one account, each of which edges of the default group serve. */
export async function fillDomains(db: Db, count: number): Promise<void> {
  const now = db.clock();
  const account = await createAccount(db.query, { name: 'many', kind: 'customer', now });
  const plain = {
    accountId: account.id,
    type: 'static',
    state: 'open',
    icpNumber: '',
    remark: '',
    createdAt: now,
  } as const;
  for (let first = 1; first <= count; first += PER_TRANSACTION) {
    await db.transaction(async (trx) => {
      const domains = [];
      for (let n = first; n < Math.min(first + PER_TRANSACTION, count + 1); n += 1) {
        domains.push(
          await insertDomain(trx, { ...plain, name: `${word()}-${n}.example.com`, settings: someSettings() }),
        );
      }
      const changes = domains.map((domain): Change => {
        return { kind: 'site', key: domain.name, op: 'put', body: toSiteSpec(domain) };
      });
      const settingRevision = await publish(trx, changes, now);
      for (const domain of domains) await saveDomain(trx, { ...domain, settingRevision });
    });
  }
}

/** Settings with random names, so that a snapshot does not compress to nothing: about 800 bytes for a domain. */
function someSettings(): DomainSettings {
  const time = { years: 0, days: 0, hours: 1, minutes: 0, seconds: 0 };
  const policies = [1, 2, 3].map((priority) => {
    return { match: 'prefix', content: `/${word()}/`, priority, isCached: true, time } as const;
  });
  return {
    ...DEFAULT_SETTINGS,
    origins: [`${word()}.example.net:8080`, `${word()}.example.net`],
    originHost: `${word()}.example.org`,
    caching: { followsOrigin: true, policies },
    referer: { mode: 'allow', allowsBlank: true, entries: [`${word()}.example.com`, `*.${word()}.example.com`] },
  };
}

function word(): string {
  return randomBytes(10).toString('hex');
}

/** Load of the machine over the last minute, for a figure. */
export function loadText(): string {
  return `load ${(loadavg()[0] ?? 0).toFixed(1)}`;
}

async function startWholeEdge(
  t: Pick<TestContext, 'after'>,
  issuer: IdentityIssuer,
  edge: string,
  port: number,
): Promise<RunningService> {
  const dataDir = join(temporaryFolder(t), edge);
  mkdirSync(dataDir);
  {
    const opened = openDataDirectory(dataDir, { make: true });
    if (opened.kind !== 'directory') throw new Error(`the data directory of ${edge} is ${opened.kind}`);
    using _lock = opened.lock;
    await placeIdentity(issuer, edge, dataDir, [`https://127.0.0.1:${port}`]);
  }
  return await startService(t, { dataDir, settings: { CAUSEWAY_ROLES: 'edge', CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8' } });
}

/** Kills all processes of a service, the supervisor first, so that it starts none of them again. */
async function killService(service: RunningService): Promise<void> {
  const pids = Object.values(service.pids());
  for (const pid of [service.process.child.pid ?? 0, ...pids]) process.kill(pid, 'SIGKILL');
  await service.process.exit;
}

const LIMIT_MS = 120_000;

async function untilCount(db: Db, edges: number, count: () => Promise<number>): Promise<void> {
  const startedAt = performance.now();
  while ((await count()) < edges) {
    if (performance.now() - startedAt > LIMIT_MS) throw new Error(`${await count()} of ${edges} edges; ${db.engine}`);
    await delay(POLL_MS);
  }
}

async function countApplied(db: Db, revision: number): Promise<number> {
  const query = db.lookUps.selectFrom('edge').select((e) => e.fn.countAll<number>().as('n'));
  const { n } = await query.where('applied_revision', '>=', revision).executeTakeFirstOrThrow();
  return Number(n);
}

async function countReported(db: Db, since: number): Promise<number> {
  const query = db.lookUps.selectFrom('edge').select((e) => e.fn.countAll<number>().as('n'));
  const { n } = await query.where('reported_at', '>=', since).executeTakeFirstOrThrow();
  return Number(n);
}

function cpuSecondsOf(pid: number): number {
  const [, fields = ''] = /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number);
  return (user + system) / TICKS_PER_SECOND;
}

/** Resolves when control is idle: nothing that was begun before counts for the next figure. */
export async function untilQuiet(fleet: Pick<LargeFleet, 'cpuSeconds'>): Promise<void> {
  await eventually('control is idle', async () => {
    const before = fleet.cpuSeconds();
    await delay(500);
    return fleet.cpuSeconds() - before < 0.25;
  });
}
