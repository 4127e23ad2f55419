/** A fleet listener over a database of a test's own, with a clock that the test sets, and machines that enrol at it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Db, openDatabase } from '#db/open.ts';
import { type Keyring, loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { saveGroup } from '#db/tables/edge-groups.ts';
import type { Identity } from '#fleet/identity.ts';
import { type FleetListener, type FleetListenerOptions, startFleetListener } from '#fleet/listener.ts';
import { enrolMachine } from '#fleet/obtain-identity.ts';
import { createEdgeToken, type TokenOrder } from '#fleet/operate.ts';
import { createLogger } from '#lib/logger.ts';
import { DEFAULT_GROUP } from '#model/fleet.ts';
import type { DatabaseTarget } from '../db/databases.ts';
import { type Cleanup, temporaryFolder } from '../temporary.ts';

const HOUR_MS = 3_600_000;

export interface TestFleet {
  readonly db: Db;
  readonly ring: Keyring;
  readonly listener: FleetListener;
  /** Address of the listener. */
  readonly control: string;
  /** Control's time; a test may set it. */
  now: number;
  /** Starts another control's listener on the same database. */
  startAnother(options?: Partial<FleetListenerOptions>): Promise<FleetListener>;
  /** Makes the group of the order too. */
  createToken(order?: Partial<TokenOrder>): Promise<string>;
  /** Enrols a new machine and returns its data directory. */
  enrol(edge: string): Promise<{ readonly dataDir: string; readonly identity: Identity }>;
}

export async function createFleet(
  t: Cleanup,
  target: DatabaseTarget,
  options: Partial<FleetListenerOptions> = {},
): Promise<TestFleet> {
  const log = createLogger({ level: 'silent', name: 'test' });
  const db = await openDatabase({ ...target, log });
  const ring = loadOrMakeKeyring(join(temporaryFolder(t), 'keyring'));
  const listeners: FleetListener[] = [];
  t.after(async () => {
    for (const listener of listeners) await listener[Symbol.asyncDispose]();
    await db[Symbol.asyncDispose]();
  });
  const startAnother = async (more: Partial<FleetListenerOptions> = {}) => {
    const listener = await startFleetListener({
      db,
      ring,
      listen: { host: '127.0.0.1', port: 0 },
      proxyProtocol: 'off',
      trustedProxies: [],
      graceMs: 30 * 24 * HOUR_MS,
      controls: [],
      onRequest: (_, response, peer) => void response.end(JSON.stringify(peer)),
      clock: () => fleet.now,
      steadyClock: () => performance.now(),
      log,
      ...options,
      ...more,
    });
    listeners.push(listener);
    return listener;
  };
  const createToken = async (given: Partial<TokenOrder> = {}) => {
    const order = {
      edge: undefined,
      replaces: false,
      group: DEFAULT_GROUP,
      labels: {},
      addresses: undefined,
      uses: 1,
      expiresAt: fleet.now + HOUR_MS,
      ...given,
    };
    await db.transaction((trx) =>
      saveGroup(trx, { name: order.group, isDefault: order.group === DEFAULT_GROUP, now: 0 }),
    );
    const created = await createEdgeToken({ db, ring, now: fleet.now }, order);
    if (created === undefined) throw new Error(`there is no group ${order.group}`);
    return created.token;
  };
  const enrol = async (edge: string) => {
    const dataDir = newMachine(t);
    const token = await createToken({ edge });
    return {
      dataDir,
      identity: await enrolMachine({ dataDir, controls: [fleet.control], token, build: 'test', now: Date.now() }),
    };
  };
  const fleet = { db, ring, now: Date.now(), startAnother, createToken, enrol, control: '' } as {
    -readonly [K in keyof TestFleet]: TestFleet[K];
  };
  fleet.listener = await startAnother();
  fleet.control = `https://127.0.0.1:${fleet.listener.port}`;
  return fleet;
}

/** Returns a new data directory. */
export function newMachine(t: Cleanup): string {
  const dataDir = join(temporaryFolder(t), 'data');
  mkdirSync(dataDir);
  return dataDir;
}
