/** Live streams on the whole service: publishers by RTMP, viewers at an edge worker, and processes that are killed. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { fetchFrom } from './support/edge.ts';
import { eventually } from './support/eventually.ts';
import { aacHeader, avcHeader, frames } from './support/media-messages.ts';
import { RtmpClient } from './support/rtmp-client.ts';
import { type RunningService, startService } from './support/service.ts';

const HOST = 'live.example.com';

async function startWithLiveDomain(t: TestContext): Promise<RunningService> {
  const service = await startService(t, { settings: { CAUSEWAY_EDGE_WORKERS: '1' } });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const { domain_id } = await client.call('domain.add', { domain: HOST, cdn_type: 4, data: '192.0.2.1' });
  await eventually('it is in force', async () => (await client.call('domain.get', { domain_id })).domain_status === 2);
  return service;
}

async function publish(service: RunningService, stream: string): Promise<RtmpClient> {
  const port = Number(new URL(service.rtmpUrl).port);
  const client = await RtmpClient.openStream({ port, app: 'live', host: HOST });
  const { code } = await client.publish(stream);
  assert.equal(code, 'NetStream.Publish.Start');
  for (const message of [avcHeader(), aacHeader(), ...frames({ untilMs: 5_000 })]) client.send(message);
  return client;
}

test('a stream is published by RTMP and watched at the edge, through deaths of the live process', async (t) => {
  const service = await startWithLiveDomain(t);
  const port = Number(new URL(service.edgeUrl).port);
  const client = await publish(service, 'a');
  const playlist = await eventually('a playlist', async () => {
    const answer = await fetchFrom(port, '/live/a.m3u8', { host: HOST });
    return answer.status === 200 && answer.body;
  });
  assert.match(playlist, /^a\/[a-z0-9]{32}\/media\.m3u8/m);
  const before = service.pids()['live'] ?? 0;
  process.kill(before, 'SIGKILL');
  await client.ended();
  await eventually('it is back', () => (service.pids()['live'] ?? before) !== before);
  const next = await eventually('a publisher is taken again', () => publish(service, 'a'));
  await eventually('another broadcast is watched', async () => {
    const answer = await fetchFrom(port, '/live/a.m3u8', { host: HOST });
    return answer.status === 200 && answer.body !== playlist;
  });
  await next[Symbol.asyncDispose]();
  await client[Symbol.asyncDispose]();
});
