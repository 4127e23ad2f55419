/** The service with one SMPP connector, an account with an app, and messages put into its queue as accepting them would. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { type Db, openDatabase } from '#db/open.ts';
import { loadKeyring } from '#db/secrets/keyring.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { type RequestToStore, readAcceptFacts, storeRequests } from '#db/tables/sms/accept.ts';
import { createSmsApp, saveSmsAppSettings } from '#db/tables/sms/apps.ts';
import { rechargeSms } from '#db/tables/sms/balance.ts';
import { saveConnector, saveRoute } from '#db/tables/sms/connectors.ts';
import { createToken } from '#db/tables/tokens.ts';
import { createLogger } from '#lib/logger.ts';
import { hashToken, mintToken } from '#lib/token.ts';
import { SMPP_DEFAULTS, type SmppSettings } from '#model/sms-connector.ts';
import type { Target } from './databases.ts';
import { type StartedService, startService } from './service.ts';

const BALANCE = 1_000_000_000_000;
const FILL_AT_ONCE = 2_000;
/** The service looks for changed connectors and routes every 500 ms; until then the loopback connector would take messages. */
const SEEN_MS = 1_500;

export interface Smsc extends AsyncDisposable {
  readonly port: number;
  /** Messages that it has taken. */
  count(): Promise<number>;
}

export async function startSmsc(): Promise<Smsc> {
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, 'smsc.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (child.stdout === null) throw new Error('no output');
  const lines = createInterface(child.stdout);
  const next = async () => Number((await once(lines, 'line'))[0]);
  const port = await next();
  return {
    port,
    count() {
      child.stdin?.write('?\n');
      return next();
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

export interface SmsWorld extends AsyncDisposable {
  readonly service: StartedService;
  readonly db: Db;
  readonly accountId: number;
  readonly appId: number;
  readonly appKey: string;
  readonly accessToken: string;
}

/** The connector is there and enabled unless `isHeld`. */
export async function startSmsWorld(
  folder: string,
  target: Target,
  options: { readonly smscPort: number; readonly window: number; readonly isHeld?: boolean },
): Promise<SmsWorld> {
  const dataDir = join(folder, target.engine);
  const service = await startService(dataDir, {
    CAUSEWAY_ROLES: 'control',
    CAUSEWAY_LOG_LEVEL: 'warn',
    CAUSEWAY_TOKEN_RATE_PER_SECOND: '100000',
    CAUSEWAY_TOKEN_RATE_BURST: '1000000',
    ...(target.url !== undefined && { DATABASE_URL: target.url }),
  });
  const log = createLogger({ level: 'warn', name: 'bench' });
  const file = join(dataDir, 'causeway.db');
  const db = await openDatabase({ file, log, ...(target.url !== undefined && { url: target.url }) });
  const now = Date.now();
  const { id: accountId } = await createAccount(db.query, { name: 'bench', kind: 'customer', now });
  const accessToken = mintToken(randomBytes);
  await createToken(db.query, { accountId, scopes: ['sms'], label: '', hash: hashToken(accessToken), now });
  const appKey = `bench-${target.engine}`;
  const app = await createSmsApp(db.query, { accountId, appKey, name: 'bench', now });
  await db.transaction((trx) => saveSmsAppSettings(trx, app.id, { ...app.settings, marketingHours: undefined })); // else advertising waits for the morning
  await db.transaction((trx) => rechargeSms(trx, { accountId, amount: BALANCE, now }));
  const world = { service, db, accountId, appId: app.id, appKey, accessToken };
  await setConnector(dataDir, db, { ...options, isEnabled: options.isHeld !== true });
  await delay(SEEN_MS);
  return {
    ...world,
    async [Symbol.asyncDispose]() {
      await db[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

export async function setConnector(
  dataDir: string,
  db: Db,
  { smscPort, window, isEnabled }: { readonly smscPort: number; readonly window: number; readonly isEnabled: boolean },
): Promise<void> {
  const ring = loadKeyring(join(dataDir, 'keyring'));
  const settings: SmppSettings = {
    ...{ ...SMPP_DEFAULTS, kind: 'smpp', host: '127.0.0.1', port: smscPort, systemId: 'bench', password: 'bench' },
    window,
  };
  await db.transaction(async (trx) => {
    const id = await saveConnector(trx, ring, { name: 'bench', enabled: isEnabled, settings }, Date.now());
    await saveRoute(trx, { prefix: '', connectorIds: [id] });
  });
}

export async function fillQueue({ db, accountId, appId, appKey }: SmsWorld, count: number): Promise<void> {
  for (let begin = 0; begin < count; begin += FILL_AT_ONCE) {
    const now = Date.now();
    const sendids = Array.from({ length: Math.min(FILL_AT_ONCE, count - begin) }, (_, n) => `fill-${begin + n}`);
    await db.transaction(async (trx) => {
      const asked = sendids.map(
        (sendid) => ({ accountId, appKey, kind: 'ordinary', smsType: 1, replayHash: sendid, sendid }) as const,
      );
      const rows = { messages: asked.length, parts: asked.length };
      const { requestIds, messageIds, partIds } = await readAcceptFacts(trx, asked, rows);
      const requests = asked.map((request, n): RequestToStore => {
        const destination = `+861${String(3_000_000_000 + begin + n)}`;
        return {
          ...{ id: requestIds[n] ?? 0, asked: request, appId },
          ...{ texts: ['a message of the bench'], dueAt: now, expireAt: now + 24 * 3_600_000 },
          messages: [
            {
              ...{ id: messageIds[n] ?? 0, partIds: partIds.slice(n, n + 1), destination },
              ...{ price: 0, route: '', reference: 0, isOptedOut: false },
            },
          ],
        };
      });
      await storeRequests(trx, requests, { taken: new Map(), now });
    });
  }
}
