/** Live streams on the whole service: every step of a stream's life, read over the API, and processes that are killed. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Client, createClient } from '#client/client.ts';
import { fetchFrom } from './support/edge.ts';
import { eventually } from './support/eventually.ts';
import { aacHeader, avcHeader, frames } from './support/media-messages.ts';
import { RtmpClient } from './support/rtmp-client.ts';
import { type RunningService, startService } from './support/service.ts';
import { temporaryFolder } from './support/temporary.ts';

const HOST = 'live.example.com';

class World {
  readonly service: RunningService;
  readonly client: Client;
  readonly stream: { account_id: string; domain_id: string; app_name: string; stream_name: string };

  private constructor(service: RunningService, client: Client, account_id: string, domain_id: string) {
    this.service = service;
    this.client = client;
    this.stream = { account_id, domain_id, app_name: 'live', stream_name: 'a' };
  }

  static async start(t: TestContext, dataDir: string): Promise<World> {
    const service = await startService(t, { dataDir, settings: { CAUSEWAY_EDGE_WORKERS: '1' } });
    const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
    const { list } = await client.call('domain.list', {});
    const known = list.find(({ domain_name }) => domain_name === HOST);
    const added = known ?? (await client.call('domain.add', { domain: HOST, cdn_type: 4, data: '192.0.2.1' }));
    const { domain_id } = added;
    await eventually(
      'it is in force',
      async () => (await client.call('domain.get', { domain_id })).domain_status === 2,
    );
    const accounts = await client.call('operator.listAccounts', {});
    return new World(service, client, accounts.list[0]?.account_id ?? '', domain_id);
  }

  /** What is listed of the stream: `ONGOING`, or `READY ended`. */
  async isListed(...expected: readonly string[]): Promise<void> {
    await eventually(`it is listed as ${expected}`, async () => {
      const list = await this.client.call('live.streams', { domain: HOST });
      const shown = list.map(({ status, endtime }) => `${status}${endtime > 0 ? ' ended' : ''}`);
      return shown.join() === expected.join();
    });
  }

  async open(): Promise<RtmpClient> {
    const port = Number(new URL(this.service.rtmpUrl).port);
    return await RtmpClient.openStream({ port, app: 'live', host: HOST });
  }

  /** What the publisher is told, and itself. */
  async publish(): Promise<{ code: string; client: RtmpClient }> {
    const client = await this.open();
    const { code } = await client.publish('a');
    if (code.endsWith('.Start'))
      for (const message of [avcHeader(), aacHeader(), ...frames({ untilMs: 5_000 })]) client.send(message);
    return { code, client };
  }

  async playlist(): Promise<string | undefined> {
    const port = Number(new URL(this.service.edgeUrl).port);
    const { status, body } = await fetchFrom(port, '/live/a.m3u8', { host: HOST });
    return status === 200 ? body : `${status}`;
  }
}

test('a stream is listed as it is at every step of its life', async (t) => {
  const world = await World.start(t, join(temporaryFolder(t), 'data'));
  const { client, stream } = world;
  assert.deepEqual(await client.call('live.streams', { domain: HOST }), []);

  const first = await world.publish();
  await world.isListed('ONGOING');
  const playlist = await eventually('it is watched at the edge', () => world.playlist());
  assert.match(playlist, /^a\/[a-z0-9]{32}\/media\.m3u8/m);
  const second = await world.publish();
  assert.equal(second.code, 'NetStream.Publish.BadName');
  first.client.break();
  const resumed = await eventually('another publisher is taken within the grace', async () => {
    const next = await world.publish();
    return next.code === 'NetStream.Publish.Start' && next.client;
  });
  await world.isListed('ONGOING');
  assert.equal(await world.playlist(), playlist, 'the same broadcast');
  resumed.unpublish('a');
  await world.isListed('READY ended');

  const third = await world.publish();
  await world.isListed('ONGOING');
  await client.call('liveOperator.forbid', stream);
  await third.client.ended();
  await world.isListed('PAUSED ended');
  assert.equal(await eventually('viewers are refused', async () => (await world.playlist()) === '403'), true);
  assert.equal((await world.publish()).code, 'NetStream.Publish.Denied');
  await client.call('liveOperator.resume', stream);
  await world.isListed('READY ended');

  const { client: fourth } = await eventually('it is published again', async () => {
    const next = await world.publish();
    return next.code === 'NetStream.Publish.Start' && next;
  });
  await world.isListed('ONGOING');
  const { account_id, domain_id } = stream;
  await client.call('operator.setDomainStatus', { account_id, domain_id, action: 'disable' });
  await fourth.ended();
  await world.isListed('READY ended');
  assert.equal((await world.publish()).code, 'NetStream.Publish.Denied');
  await client.call('operator.setDomainStatus', { account_id, domain_id, action: 'enable' });
  await eventually('it is published again', async () => (await world.publish()).code === 'NetStream.Publish.Start');
  await world.isListed('ONGOING');
});

test('nothing stays on air that was killed', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  const world = await World.start(t, dataDir);
  const { service } = world;
  const kill = (part: string) => process.kill(service.pids()[part] ?? 0, 'SIGKILL');
  const { client } = await world.publish();
  await world.isListed('ONGOING');
  kill('live');
  await client.ended();
  await world.isListed('READY ended');

  await eventually('the live process takes publishers again', async () => {
    const next = await world.publish();
    return next.code === 'NetStream.Publish.Start';
  });
  await world.isListed('ONGOING');
  kill('control'); // the stream goes on, and control learns of it again
  await eventually('control is back', () => world.isListed('ONGOING').then(() => true));

  process.kill(service.process.child.pid ?? 0, 'SIGSTOP'); // so that nothing is started again
  for (const pid of Object.values(service.pids())) process.kill(pid, 'SIGKILL');
  service.process.child.kill('SIGKILL');
  await service.process.exit;
  const after = await World.start(t, dataDir);
  await after.isListed('READY ended');
  const { list } = await after.client.call('live.history', { domain: HOST });
  assert.deepEqual(
    list.map(({ end_reason }) => end_reason),
    ['crashed', 'crashed'],
  );
});
