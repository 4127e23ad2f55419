/**
 * The whole service with 100,000 domains in SQLite: the command to ready, until the edge has them all and serves the last one,
 * one domain read and changed over HTTP, and what the processes have in memory.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toSiteSpec } from '#api/settings/site-spec.ts';
import { createClient } from '#client/client.ts';
import { openDatabase } from '#db/open.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { insertDomain, saveDomain } from '#db/tables/domains.ts';
import { publish } from '#db/tables/resources.ts';
import { createToken } from '#db/tables/tokens.ts';
import { databasePath, openDataDirectory } from '#lib/data-directory.ts';
import { createLogger } from '#lib/logger.ts';
import { hashToken, mintToken } from '#lib/token.ts';
import { DEFAULT_SETTINGS } from '#model/domain.ts';
import { askFor } from './support/ask-for.ts';
import { formatMs, percentiles, timed } from './support/percentiles.ts';
import { type StartedService, startService } from './support/service.ts';

const DOMAINS = 100_000;
const PER_TRANSACTION = 1_000;
const CALLS = 200;
const POLL_MS = 20;

const SETTINGS = {
  CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
  CAUSEWAY_EDGE_WORKERS: '1',
  CAUSEWAY_TOKEN_RATE_PER_SECOND: '100000',
};

const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
const dataDir = join(folder, 'data');
const origin = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1');
await once(origin, 'listening');

try {
  const accessToken = await fillDatabase();
  // At the first start the edge has none of them.
  for (const what of ['with an edge that has none yet', 'again']) {
    await using service = await startService(dataDir, SETTINGS);
    console.log(`${what}, command to ready: ${Math.round(service.readyMs)} ms`);
    console.log(`  until the last domain is served: ${Math.round(await timed(() => untilServed(service)))} ms more`);
    const client = createClient({ baseUrl: service.controlUrl, accessToken });
    const [reads, changes]: number[][] = [[], []];
    for (let i = 0; i < CALLS; i++) {
      const domain_id = String(1 + ((i * 7919) % DOMAINS));
      reads?.push(await timed(() => client.call('domain.get', { domain_id })));
      changes?.push(await timed(() => client.call('domain.updateOrigin', { domain_id, data: [originText()] })));
    }
    console.log(
      `  one read: ${formatMs(percentiles(reads ?? []))}; one changed: ${formatMs(percentiles(changes ?? []))}`,
    );
    console.log(`  in memory then, MiB: ${service.memory()}`);
  }
} finally {
  origin.close();
  rmSync(folder, { recursive: true });
}

async function fillDatabase(): Promise<string> {
  const directory = openDataDirectory(dataDir, { make: true });
  if (directory.kind !== 'directory') throw new Error(`the data directory is ${directory.kind}`);
  using _lock = directory.lock;
  await using db = await openDatabase({
    file: databasePath(dataDir),
    log: createLogger({ level: 'warn', name: 'bench' }),
  });
  const now = Date.now();
  const account = await createAccount(db.query, { name: 'bench', kind: 'customer', now });
  const settings = { ...DEFAULT_SETTINGS, origins: [originText()] };
  const plain = {
    accountId: account.id,
    type: 'static',
    icpNumber: '',
    remark: '',
    state: 'open',
    createdAt: now,
    settings,
  } as const;
  for (let first = 1; first <= DOMAINS; first += PER_TRANSACTION) {
    await db.transaction(async (trx) => {
      const domains = [];
      for (let id = first; id < first + PER_TRANSACTION; id++) {
        domains.push(await insertDomain(trx, { ...plain, name: `site-${id}.example.com` }));
      }
      const changes = domains.map((domain) => ({
        kind: 'site',
        key: domain.name,
        op: 'put' as const,
        body: toSiteSpec(domain),
      }));
      const settingRevision = await publish(trx, changes, now);
      for (const domain of domains) await saveDomain(trx, { ...domain, settingRevision });
    });
  }
  const accessToken = mintToken();
  await createToken(db.query, { accountId: account.id, scopes: ['cdn'], label: '', hash: hashToken(accessToken), now });
  return accessToken;
}

function originText(): string {
  const address = origin.address();
  return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

/** The last of the snapshot. */
async function untilServed({ edgePort }: StartedService): Promise<void> {
  for (;;) {
    const isServed = await askFor(edgePort, `site-${DOMAINS}.example.com`).then(
      () => true,
      () => false,
    );
    if (isServed) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
