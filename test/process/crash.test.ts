/** Control is killed in the middle of its work: what it acknowledged is kept, and every edge ends with exactly that. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { ClientError } from '#client/client-error.ts';
import type { Client } from '#client/transport.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningService, startService } from '../support/process/service.ts';
import { temporaryFolder } from '../support/temporary.ts';

const CALLS = 200;
const CONCURRENCY = 8;
/** Control is killed when so many calls have been acknowledged. */
const KILL_AT = [60, 130];

describeOnBothEngines('control killed in the middle of 200 addDomain calls', (newDatabase) => {
  test('every acknowledged domain survives the kills, and each edge ends with exactly the stored set', async (t) => {
    const { url } = await newDatabase(t);
    const dataDir = join(temporaryFolder(t), 'data');
    const service = await startService(t, {
      dataDir,
      settings: {
        CAUSEWAY_TOKEN_RATE_PER_SECOND: '100000',
        CAUSEWAY_TOKEN_RATE_BURST: '100000',
        ...(url !== undefined && { DATABASE_URL: url }),
      },
    });
    const feedSocket = join(dataDir, 'run', 'feed.sock');
    const second = await startService(t, {
      settings: {
        CAUSEWAY_ROLES: 'edge',
        CAUSEWAY_EDGE_ID: 'second',
        CAUSEWAY_FEED_SOCKET: feedSocket,
      },
    });
    const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
    const { acknowledged, unanswered } = await addWhileKilling(client, service);
    assert.ok(unanswered > 0, 'calls were under way when control was killed');
    assert.ok(acknowledged.length > CALLS - 2 * CONCURRENCY - 1, `${acknowledged.length} acknowledged`);

    const stored = await listNames(client);
    assert.deepEqual(
      acknowledged.filter((name) => !stored.includes(name)),
      [],
    );
    assert.ok(stored.length <= acknowledged.length + unanswered);
    for (const edge of [service, second])
      await eventually('the edge has exactly the stored set', () => {
        assert.deepEqual(readEdgeNames(edge), stored);
        return true;
      });
    await eventually('all of them are in force', async () => {
      const { total } = await client.call('domain.list', { page_size: 1, domain_status: 2 });
      return total === stored.length;
    });
    assert.deepEqual([await second.stop(), await service.stop()], [0, 0]);
  });
});

/** Each name is sent once. A call without an answer is not repeated; it may have been done. */
async function addWhileKilling(client: Client, service: RunningService) {
  const acknowledged: string[] = [];
  const kills = [...KILL_AT];
  let unanswered = 0;
  let next = 0;
  const sender = async () => {
    while (next < CALLS) {
      const domain = `d${next++}.example.com`;
      try {
        await client.call('domain.add', { domain, cdn_type: '1', data: '192.0.2.1' });
        acknowledged.push(domain);
      } catch (error) {
        if (!(error instanceof ClientError) || error.kind !== 'unreachable') throw error;
        unanswered += 1;
        await eventually('control is back', async () => (await fetch(`${service.controlUrl}/readyz`)).ok);
      }
      if (acknowledged.length >= (kills[0] ?? Number.POSITIVE_INFINITY)) {
        kills.shift();
        process.kill(service.pids()['control'] ?? 0, 'SIGKILL');
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, sender));
  return { acknowledged, unanswered };
}

async function listNames(client: Client): Promise<string[]> {
  const names: string[] = [];
  for (let page = 1; ; page++) {
    const { list } = await client.call('domain.list', { page, page_size: 100 });
    names.push(...list.map(({ domain_name }) => domain_name));
    if (list.length < 100) return names.sort();
  }
}

function readEdgeNames({ dataDir }: RunningService): string[] {
  const database = new DatabaseSync(join(dataDir, 'edge', 'sites.db'), { readOnly: true });
  try {
    const rows = database.prepare("select key from resource where kind = 'site'").all();
    return rows.map(({ key }) => String(key)).sort();
  } finally {
    database.close();
  }
}
