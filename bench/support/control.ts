/** A control of the bench's own in this process: database, feed and interface, with one account whose token has no limit. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { startApi } from '#api/server.ts';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import { openDatabase } from '#db/open.ts';
import { loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { createToken } from '#db/tables/tokens.ts';
import { startFeedServer } from '#feed/server/server.ts';
import { steadyClock, systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { hashToken, mintToken } from '#lib/token.ts';
import { localBlobStore } from '#logs/store/local.ts';
import type { Target } from './databases.ts';

export interface Control extends AsyncDisposable {
  readonly client: Client;
  readonly socketPath: string;
}

const NO_LIMIT = 1_000_000;

export async function startControl(folder: string, target: Target): Promise<Control> {
  const log = createLogger({ level: 'warn', name: 'bench' });
  const clock = systemClock;
  const db = await openDatabase({ ...target, log });
  const now = clock();
  const account = await createAccount(db.query, { name: 'bench', kind: 'customer', now });
  const accessToken = mintToken(randomBytes);
  await createToken(db.query, { accountId: account.id, scopes: ['cdn'], label: '', hash: hashToken(accessToken), now });
  const socketPath = join(folder, `${target.engine}.sock`);
  const feed = await startFeedServer({ db, socketPath, clock, log });
  const api = await startApi({
    db,
    listen: { host: '127.0.0.1', port: 0 },
    trustedProxies: [],
    limits: {
      tokenRatePerSecond: NO_LIMIT,
      tokenRateBurst: NO_LIMIT,
      failedTokensPerMinute: 10,
      purgeUrlsPerDay: 1_000_000,
      purgeDirectoriesPerDay: 1_000_000,
      prefetchUrlsPerDay: 1_000_000,
    },
    locale: 'en',
    timeZone: 'UTC',
    statSeconds: 30,
    domainStatusAs: 'int',
    cnameSuffix: 'cdn.localhost',
    logs: {
      blobs: localBlobStore(join(folder, 'logs')),
      ring: loadOrMakeKeyring(join(folder, 'keyring')),
      hours: 1,
    },
    review: 'auto',
    localSecret: mintToken(randomBytes),
    clock,
    steadyClock,
    log,
    registry: new Registry(),
  });
  return {
    client: createClient({ baseUrl: `http://127.0.0.1:${api.port}`, accessToken }),
    socketPath,
    async [Symbol.asyncDispose]() {
      await api.close();
      await feed[Symbol.asyncDispose]();
      await db[Symbol.asyncDispose]();
    },
  };
}
