/** The feed between real processes, when files are lost or put back under them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { openTestDatabase, publishNow, putSite, siteSpec } from '../support/feed/feed.ts';
import { type RunningService, startService } from '../support/process/service.ts';
import { addDomain } from '../support/process/service-with-domain.ts';
import { temporaryFolder } from '../support/temporary.ts';

const SETTINGS = {
  CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
  CAUSEWAY_TOKEN_RATE_PER_SECOND: '10000',
};

test('edges notice that a copy of the database was put back, also one that ran on meanwhile', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  const database = join(dataDir, 'causeway.db');
  const start = () => startService(t, { dataDir, settings: SETTINGS });
  const first = await start();
  const other = await startService(t, {
    settings: {
      ...SETTINGS,
      CAUSEWAY_ROLES: 'edge',
      CAUSEWAY_EDGE_ID: 'other',
      CAUSEWAY_FEED_SOCKET: join(dataDir, 'run', 'feed.sock'),
    },
  });
  await addInForce(first, 'a.example.com');
  await first.stop();
  copyFileSync(database, `${database}.copy`);

  const second = await start();
  await addInForce(second, 'lost.example.com');
  await second.stop();
  removeDatabase(database);
  copyFileSync(`${database}.copy`, database);

  // It gives out the revision of the domain that was lost.
  const third = await start();
  await addInForce(third, 'b.example.com');
  await untilNamesAre([third, other], ['a.example.com', 'b.example.com']);
});

const HARM = [
  ['removed', (file: string) => removeDatabase(file)],
  [
    'overwritten',
    (file: string) => {
      for (const suffix of ['', '-wal']) writeFileSync(file + suffix, 'noise '.repeat(9000));
    },
  ],
] as const;

test('an edge whose file is removed or overwritten under it takes everything anew before it acknowledges anything', async (t) => {
  const origin = await startOrigin(t, (_, response) => response.end('here'));
  const service = await startService(t, { settings: SETTINGS });
  const hosts = ['a.example.com'];
  const add = (host: string) => addInForce(service, host, `127.0.0.1:${origin.port}`);
  await add('a.example.com');
  const file = join(service.dataDir, 'edge', 'sites.db');
  const times = () => service.process.stderr().split('was removed, replaced or damaged').length - 1;
  for (const [name, harm] of HARM) {
    const before = times();
    harm(file);
    const host = `${name}.example.com`;
    await add(host);
    hosts.push(host);
    assert.deepEqual(namesAt(service), hosts.toSorted());
    for (const host of hosts) {
      const sent = get(service.edgeUrl, { headers: { host }, agent: false }); // `fetch` does not let one choose the host
      // `as`: what the event `response` of a client request carries.
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      assert.deepEqual([response.statusCode, await text(response)], [200, 'here']);
    }
    await eventually('it says so', () => times() === before + 1);
    harm(file);
    await eventually('it notices without a change', () => times() === before + 2);
    await eventually('it is made anew', () => namesAt(service).length === hosts.length);
  }
});

test('a site that an edge cannot apply shows in its metrics, and by edge in those of control', async (t) => {
  const service = await startService(t, { settings: SETTINGS });
  await addInForce(service, 'a.example.com');
  const gauges = async () => {
    const metrics = await (await fetch(service.metricsUrl)).text();
    return metrics
      .split('\n')
      .flatMap((line) => /^causeway_feed_(?:edge_)?rejected_resources\{.* \d+$/.exec(line) ?? []);
  };
  const shows = (count: number) =>
    eventually(`${count} in both`, async () => {
      const [one, other] = (await gauges()).toSorted();
      const isOfControl = one?.includes('edge="local"') === true && one.includes('process="control"');
      return isOfControl && one.endsWith(` ${count}`) && other?.endsWith(` ${count}`);
    });
  await shows(0);
  // Of a newer control.
  await using db = await openTestDatabase({ file: join(service.dataDir, 'causeway.db') });
  await publishNow(db, {
    kind: 'site',
    key: 'a.example.com',
    op: 'put',
    body: { ...siteSpec(1, 'a.example.com'), type: 'new' },
  });
  await shows(1);
  await publishNow(db, putSite(1, 'a.example.com'));
  await shows(0);
});

test('the older of two edges with one id is told so, and the newer counts', async (t) => {
  const settings = { ...SETTINGS, CAUSEWAY_EDGE_ID: 'twin' };
  const service = await startService(t, { settings });
  await addInForce(service, 'a.example.com');
  const feedSocket = join(service.dataDir, 'run', 'feed.sock');
  const twin = await startService(t, {
    settings: { ...settings, CAUSEWAY_ROLES: 'edge', CAUSEWAY_FEED_SOCKET: feedSocket },
  });
  await eventually('both sides say it', () => {
    const said = service.process.stderr();
    return said.includes('two edges use the same id') && said.includes('another edge reports as twin');
  });
  await addInForce(service, 'b.example.com');
  await untilNamesAre([service, twin], ['a.example.com', 'b.example.com']);
});

/** One that has not reported yet, or does not count, may be a moment behind those for which a domain is in force. */
async function untilNamesAre(edges: readonly RunningService[], names: readonly string[]): Promise<void> {
  await eventually(`all have ${names}`, () => {
    for (const edge of edges) assert.deepEqual(namesAt(edge), names);
    return true;
  });
}

async function addInForce(service: RunningService, domain: string, origin = '192.0.2.1'): Promise<void> {
  await addDomain(service, origin, { domain });
}

function namesAt({ dataDir }: RunningService): string[] {
  using database = new DatabaseSync(join(dataDir, 'edge', 'sites.db'), { readOnly: true });
  const rows = database.prepare("select key from resource where kind = 'site' order by key").all();
  return rows.map(({ key }) => String(key));
}

function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}
