/** A database with controls and edges on "other machines", which are listeners with mutual TLS on loopback. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { addDomain } from '#api/settings/change.ts';
import type { Db } from '#db/open.ts';
import { ALONE } from '#db/peers/peers.ts';
import { type Keyring, loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { startFeedServer } from '#feed/server/server.ts';
import { systemClock } from '#lib/clock.ts';
import { DEFAULT_SETTINGS, type Domain } from '#model/domain.ts';
import { openControlTraffic } from '#roles/control/control-traffic.ts';
import { createAuthority, type TestAuthority } from '../certificates/certificate.ts';
import type { DatabaseTarget } from '../db/databases.ts';
import { temporaryFolder } from '../temporary.ts';
import { openTestDatabase, silentLog } from './feed.ts';
import { startFleetListener } from './fleet-feed.ts';

const LOGS = { logDays: 30, timeZone: 'Asia/Shanghai', statSeconds: 30 };

export interface FleetWorld extends AsyncDisposable {
  readonly folder: string;
  readonly authority: TestAuthority;
  readonly db: Db;
  readonly ring: Keyring;
  readonly accountId: number;
  /** Group of each edge, which may be changed. */
  readonly groups: Record<string, string>;
  /** `bytesPerSecond`: limit of its snapshots. */
  startControl(options?: { readonly bytesPerSecond: number }): Promise<TestControl>;
  addDomain(name: string): Promise<Domain>;
}

export interface TestControl extends AsyncDisposable {
  readonly address: string;
  readonly requests: readonly string[];
  readonly snapshots: number;
  readonly sentBytes: number;
}

/** Declare the test with `needs('openssl')`. */
export async function startFleetWorld(t: TestContext, target: DatabaseTarget): Promise<FleetWorld> {
  const folder = temporaryFolder(t);
  const authority = createAuthority(t);
  const db = await openTestDatabase(target);
  const ring = loadOrMakeKeyring(join(folder, 'keyring'));
  const { id: accountId } = await createAccount(db.query, { name: 'test', kind: 'customer', now: 1 });
  const groups: Record<string, string> = {};
  let controls = 0;
  const startControl = async ({ bytesPerSecond } = { bytesPerSecond: 1e9 }): Promise<TestControl> => {
    const n = ++controls;
    const config = { logStore: { kind: 'local', directory: join(folder, 'logs') }, ...LOGS } as const;
    const traffic = openControlTraffic(config, db, ALONE, silentLog);
    const server = await startFeedServer({
      db,
      traffic: traffic.taker,
      ring,
      socketPath: join(folder, `${n}.sock`),
      snapshots: { directory: join(folder, `snapshots-${n}`), bytesPerSecond },
      clock: systemClock,
      log: silentLog,
    });
    const listener = await startFleetListener({ authority, handle: server.handle, groups });
    const end = async () => {
      await server[Symbol.asyncDispose]();
      await listener[Symbol.asyncDispose]();
      await traffic[Symbol.asyncDispose]();
    };
    let ending: Promise<void> | undefined;
    return {
      address: listener.address,
      requests: listener.requests,
      get sentBytes() {
        return server.snapshots?.sentBytes ?? 0;
      },
      get snapshots() {
        return server.snapshots?.begun ?? 0;
      },
      async [Symbol.asyncDispose]() {
        ending ??= end();
        await ending;
      },
    };
  };
  const add = async (name: string) => {
    const settings = { ...DEFAULT_SETTINGS, origins: ['origin.example.net'] };
    const kind = { type: 'static', state: 'open' } as const;
    const domain = { accountId, name, ...kind, icpNumber: '', remark: '', createdAt: 1, settings };
    return await addDomain(db, domain, 1000, systemClock());
  };
  return {
    ...{ folder, authority, db, ring, accountId, groups, startControl, addDomain: add },
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}
