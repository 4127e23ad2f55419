/** An edge of the former release with control of this one, and the reverse, over the unix socket. Goal 10 of docs/fleet.md */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import { openDatabase } from '#db/open.ts';
import { findEdgeView } from '#db/tables/edges.ts';
import { systemClock } from '#lib/clock.ts';
import { fetchFrom } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { publishNow, silentLog, siteSpec } from '../support/feed/feed.ts';
import { checkOutFormerRelease } from '../support/process/former-release.ts';
import { type RunningService, type ServiceOptions, startService } from '../support/process/service.ts';
import { addDomain } from '../support/process/service-with-domain.ts';
import { needs } from '../support/runner/needs.ts';

const HOST = 'www.example.com';

test(
  'an edge of the former release serves, shows what it rejects, and loses nothing',
  needs('formerRelease'),
  async (t) => {
    const command = checkOutFormerRelease(t);
    const settings = { CAUSEWAY_ROLES: 'control', CAUSEWAY_CONTROL_LISTEN: '127.0.0.1:0' };
    const first = await startService(t, { settings });
    const edge = await startEdge(t, first, { command });
    const { origin } = await usesAll(t, first, edge);

    await using db = await openDatabase({ file: join(first.dataDir, 'causeway.db'), log: silentLog });
    const counted = async () => {
      const rows = await db.query.selectFrom('stat_sum').select('requests').where('grain', '=', 'day').execute();
      return rows.reduce((sum, { requests }) => sum + requests, 0);
    };
    await eventually('its requests are counted', async () => (await counted()) === 4);
    // Of a release that it does not know.
    const body = { ...siteSpec(99, 'new.example.com'), state: 'sleeping' };
    await publishNow(db, { kind: 'site', key: 'new.example.com', op: 'put', body });
    await eventually('control shows what it rejects', async () => {
      const view = await findEdgeView(db.query, 'edge1', systemClock());
      return view?.rejected.some(({ key, error }) => key === 'new.example.com' && error !== '') === true;
    });
    assert.equal(await first.stop(), 0);
    assert.equal((await fetchFrom(portOf(edge), '/a', { host: HOST })).status, 200);
    const again = await startService(t, { settings, dataDir: first.dataDir });
    const client = createClient({ baseUrl: again.controlUrl, accessToken: first.token });
    await client.call('domain.add', { domain: 'b.example.com', cdn_type: '1', data: `127.0.0.1:${origin.port}` });
    await eventually('it has what came after', async () => {
      return (await fetchFrom(portOf(edge), '/b', { host: 'b.example.com' })).status === 200;
    });
    await eventually('its requests are counted', async () => (await counted()) >= 6);
    assert.equal(await edge.stop(), 0);
  },
);

test('an edge of this release follows control of the former one', needs('formerRelease'), async (t) => {
  const command = checkOutFormerRelease(t);
  const control = await startService(t, { command, settings: { CAUSEWAY_ROLES: 'control' } });
  const edge = await startEdge(t, control, {});
  await usesAll(t, control, edge);
  assert.equal(await edge.stop(), 0);
});

async function startEdge(
  t: TestContext,
  control: RunningService,
  options: Pick<ServiceOptions, 'command'>,
): Promise<RunningService> {
  return await startService(t, {
    ...options,
    settings: {
      CAUSEWAY_ROLES: 'edge',
      CAUSEWAY_EDGE_ID: 'edge1',
      CAUSEWAY_FEED_SOCKET: join(control.dataDir, 'run', 'feed.sock'),
      CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
      CAUSEWAY_STAT_SECONDS: '5',
    },
  });
}

function portOf({ edgeUrl }: RunningService): number {
  return Number(new URL(edgeUrl).port);
}

/** A domain is served, prefetched, purged and changed. Four requests of viewers. */
async function usesAll(t: TestContext, control: RunningService, edge: RunningService) {
  let version = 1;
  const origin = await startOrigin(t, (request, response) =>
    reply(`version ${version}`, { 'Cache-Control': 'max-age=86400' })(request, response),
  );
  const { client, domain_id } = await addDomain(control, origin.port);
  const get = async (path: string) => {
    const { body, headers } = await fetchFrom(portOf(edge), path, { host: HOST });
    return `${body} ${headers['x-cache']}`;
  };
  const { task_id } = await client.call('cache.prefetch', { urls: `http://${HOST}/a` });
  await isDone(client, task_id);
  assert.equal(await get('/a'), 'version 1 HIT');
  version = 2;
  await isDone(client, (await client.call('cache.purge', { domain_id })).task_id);
  assert.deepEqual([await get('/a'), await get('/a')], ['version 2 MISS', 'version 2 HIT']);
  await client.call('domain.setStatus', { domain_id, domain_status: '0' });
  await eventually('it is closed', async () => (await client.call('domain.get', { domain_id })).domain_status === 0);
  await client.call('domain.setStatus', { domain_id, domain_status: '2' });
  await eventually('it is in force', async () => (await client.call('domain.get', { domain_id })).domain_status === 2);
  assert.equal(await get('/a'), 'version 2 HIT');
  return { client, origin };
}

async function isDone(client: Client, task_id: string): Promise<void> {
  await eventually('the task is done', async () => (await client.call('cache.getTask', { task_id })).state === 'done');
}
