/**
 * Obtaining certificates in one process: a real database, Pebble, an edge that answers the challenges it was told of, and
 * workers that do a round when a test asks for it, by a clock of the test's.
 */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createAccountHolder } from '#acme/account.ts';
import { createAuthority } from '#acme/authority.ts';
import { type AskHttp, createHttps, type HttpAnswer } from '#acme/https.ts';
import type { ExternalBinding } from '#acme/jws.ts';
import { createAcmeRound } from '#acme/worker.ts';
import { addDomain } from '#api/settings/change.ts';
import { giveCertificate } from '#api/settings/give-certificate.ts';
import { type Db, openDatabase } from '#db/open.ts';
import { ALONE } from '#db/peers/peers.ts';
import { type Keyring, loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { askForCertificate, findOrder } from '#db/tables/certificate-orders.ts';
import { findDomainById, findDomainToChange } from '#db/tables/domains.ts';
import { recordEdgeStatus } from '#db/tables/edges.ts';
import { allResources, readConfigHead } from '#db/tables/resources.ts';
import { createLogger } from '#lib/logger.ts';
import type { CertificateOrder } from '#model/certificate-order.ts';
import { CHALLENGE_KIND, type ChallengeBody } from '#model/challenge.ts';
import { DEFAULT_SETTINGS, type Domain } from '#model/domain.ts';
import type { NewDatabase } from '../db/databases.ts';
import { startTestEdge, type TestEdge } from '../edge/edge.ts';
import { temporaryFolder } from '../temporary.ts';
import { type Pebble, type PebbleOptions, placePebble } from './pebble.ts';
import type { RenewalScript } from './renewal-info.ts';

export const NAME = 'www.example.com';

export interface AcmeWorld {
  readonly db: Db;
  readonly ring: Keyring;
  readonly edge: TestEdge;
  readonly pebble: Pebble;
  readonly domain: Domain;
  readonly accountId: number;
  now: number;
  /** Milliseconds by which `now` was put back; monotonic times are not. */
  putBackMs: number;
  /** Path after the address of the directory: another one is another account. */
  account: string;
  /** Binding of workers that are started from now on. */
  binding: ExternalBinding | undefined;
  readonly logLines: string[];
  /** Requests to authorities, by method and path. */
  readonly asked: string[];
  /** Called before each request to the authority; rejects to cut it. */
  before: (question: string) => Promise<void>;
  /** And after each, when its answer is there. */
  after: (question: string) => Promise<void>;
  /** What the authority says of renewals, which Pebble of Debian does not; absent: nothing. */
  renewals: RenewalScript | undefined;
  /** What is answered in place of the authority; `undefined`: it is asked. */
  instead: (question: string) => HttpAnswer | undefined;
  /** Cuts a worker off the database from now on; its lease ends in a moment. Always rejects. */
  kill(): Promise<never>;
  /** Requests a certificate as a customer does. */
  request(): Promise<string>;
  order(): Promise<CertificateOrder | undefined>;
  readDomain(): Promise<Domain | undefined>;
  /** Resources of a kind in the feed, by key. */
  resources(kind: string): Promise<ReadonlyMap<string, unknown>>;
  /** Makes the edge apply the published revision and acknowledge it. */
  applyFeed(): Promise<void>;
  /** Makes a worker, which works when it is called. */
  newWorker(): Promise<() => Promise<void>>;
  /** One round of a worker of its own, which is gone then. */
  round(): Promise<void>;
  /** Rounds, and the edge's part, by a clock that goes on, until the order rests. */
  run(): Promise<CertificateOrder>;
}

export async function startAcmeWorld(
  t: TestContext,
  newDatabase: NewDatabase,
  options: Partial<PebbleOptions> = {},
): Promise<AcmeWorld> {
  const logLines: string[] = [];
  const log = createLogger({ level: 'info', name: 'test', destination: { write: (line) => void logLines.push(line) } });
  const db = await openDatabase({ ...(await newDatabase(t)), log });
  t.after(() => db[Symbol.asyncDispose]());
  const ring = loadOrMakeKeyring(join(temporaryFolder(t), 'keyring'));
  const known = new Map<string, string>();
  const edge = await startTestEdge(t, [1], { challenges: { getChallenge: (key) => known.get(key) } });
  const place = await placePebble(t);
  const pebble = await place.start({ httpPort: edge.port, names: [NAME], ...options });
  const https = createHttps('causeway/test', place.ca);
  t.after(() => https[Symbol.asyncDispose]());
  const now = Date.now();
  const { id: accountId } = await createAccount(db.query, { name: 'a customer', kind: 'customer', now });
  const texts = { icpNumber: '', remark: '' };
  const added = {
    accountId,
    name: NAME,
    type: 'static',
    state: 'open',
    createdAt: now,
    settings: { ...DEFAULT_SETTINGS, origins: ['127.0.0.1'] },
  } as const;
  const domain = await addDomain(db, { ...added, ...texts }, 10, now);

  const ask: AskHttp = async (question, signal) => {
    const what = `${question.method} ${new URL(question.url).pathname.split('/')[1]}`;
    world.asked.push(what);
    await world.before(what);
    const answer = world.instead(what) ?? (await (world.renewals?.around(https.ask) ?? https.ask)(question, signal));
    await world.after(what);
    return answer;
  };
  const resources = async (kind: string) => {
    const found = new Map<string, unknown>();
    await db.snapshot(async (x) => {
      for await (const rows of allResources(x, 100))
        for (const row of rows) if (row.kind === kind) found.set(row.key, JSON.parse(row.body));
    });
    return found;
  };
  let workers = 0;
  const world: AcmeWorld = {
    ...{ db, ring, edge, pebble, domain, accountId, now, logLines },
    putBackMs: 0,
    account: '',
    binding: undefined,
    renewals: undefined,
    asked: [],
    before: async () => undefined,
    after: async () => undefined,
    instead: () => undefined,
    async kill() {
      const dead = { lease_owner: 'dead', lease_until: world.now + 1 };
      await db.query.updateTable('certificate_order').set(dead).execute();
      throw new Error('killed');
    },
    request: () =>
      db.transaction(async (trx) => {
        const { settings } = (await findDomainToChange(trx, { id: domain.id })) ?? domain;
        return await askForCertificate(trx, { domainId: domain.id, sslKey: settings.sslKey, now: world.now });
      }),
    order: () => findOrder(db.query, domain.id),
    readDomain: () => findDomainById(db.query, domain.id),
    resources,
    async applyFeed() {
      const found = await resources(CHALLENGE_KIND);
      known.clear();
      for (const [key, body] of found) {
        // `as`: what is published under this kind.
        known.set(key, (body as ChallengeBody).keyAuthorization);
      }
      const at = await readConfigHead(db.query);
      const what = {
        edge: 'e1',
        at,
        appliedRevision: at.revision,
        rejected: [],
        build: 'test',
        startedAt: 0,
        origins: [],
      };
      await recordEdgeStatus(db.query, what, world.now);
    },
    async newWorker() {
      workers += 1;
      const directory = place.directory + world.account;
      const clock = () => world.now;
      const steadyClock = () => performance.now();
      const authority = createAuthority({ directoryUrl: directory, ask, binding: world.binding, clock, steadyClock });
      const own = {
        ...{ db, peers: ALONE, ring, authority, log, clock, random: () => 0.5 },
        ...{ owner: `w${workers}`, onEnd: () => undefined },
      };
      const account = createAccountHolder({
        ...{ ...own, directory, email: undefined },
        steadyClock: () => world.now + world.putBackMs,
      });
      const give = giveCertificate;
      const round = await createAcmeRound({
        ...{ ...own, account },
        give: (trx, given) => give(trx, { ring, maxCertificates: 10 }, given),
      });
      return () => round(NEVER);
    },
    async round() {
      const work = await world.newWorker();
      await work();
    },
    async run() {
      for (let rounds = 0; rounds < MAX_ROUNDS; rounds += 1) {
        await world.round();
        const order = await world.order();
        if (order === undefined) throw new Error('the order is gone');
        if (order.state === 'issued' || order.state === 'failed') return order;
        await world.applyFeed();
        world.now += ROUND_MS;
      }
      throw new Error(`no end: ${JSON.stringify(await world.order())}`);
    },
  };
  return world;
}

const NEVER = new AbortController().signal;
const MAX_ROUNDS = 300;
/** Longer than an order waits for edges or the authority. */
const ROUND_MS = 1_000;
