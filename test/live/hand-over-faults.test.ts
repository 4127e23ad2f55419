/** A second fault while live streams are handed over: what is on air in a process that lives stays on air, and so does its recording. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { type FlvClient, openFlv } from '../support/live/live-edge.ts';
import { aacHeader, avcHeader, frames } from '../support/live/media-messages.ts';
import { RtmpClient } from '../support/live/rtmp-client.ts';
import { type RunningService, runCommand, startService, WITH_LIVE } from '../support/process/service.ts';
import { untilInForce } from '../support/process/service-with-domain.ts';

const HOST = 'live.example.com';

describeOnBothEngines('a stream that is being handed over', (newDatabase) => {
  test('a stream and its recording outlive control, the next live process and the one after that', async (t) => {
    const { url } = await newDatabase(t);
    const world = await startWorld(t, url === undefined ? {} : { DATABASE_URL: url });
    const { service } = world;
    const a = await world.publish('a', 0);
    const begin = await world.beginOf('a');
    const first = service.pids()['live'];

    const starting = world.restart();
    await eventually('the next live process starts', () => service.pids()['live-b'] !== undefined);
    kill(service, 'live-b');
    assert.match((await starting).stderr, /^causeway: live-b: it died/, 'the restart has failed');
    await a.isSeen(1_000);

    assert.equal((await world.restart()).code, 0);
    await a.isSeen(2_000);
    for (const part of ['control', 'live-b']) kill(service, part);
    await a.isSeen(3_000);
    assert.equal(await world.beginOf('a'), begin);

    const b = await world.publish('b', 0);
    assert.equal((await world.restart()).code, 0);
    await b.isSeen(1_000);
    kill(service, 'live-b'); // a draining one is not started again
    await eventually('the stream of the process that died is gone', () => b.client.hasEnded);
    await a.isSeen(12_000);
    assert.deepEqual([service.pids()['live'], await world.beginOf('a')], [first, begin]);

    a.client.unpublish('a');
    await eventually('the first process has ended', () => service.pids()['live'] === undefined);
    const recordings = async () => (await world.client.call('live.listRecordings', { domain: HOST })).list;
    const found = await eventually('both recordings have ended', async () => {
      const list = await recordings();
      return list.length === 2 && list.every(({ status }) => status !== 'RECORDING') && list;
    });
    const ofA = found.find(({ stream_name }) => stream_name === 'a');
    assert.deepEqual([ofA?.status, ofA?.end_reason], ['COMPLETE', 'ended']);
    assert.ok((ofA?.duration_ms ?? 0) >= 12_000, `${ofA?.duration_ms} ms`);
    assert.equal(found.find(({ stream_name }) => stream_name === 'b')?.end_reason, 'crashed');
    assert.equal(await service.stop(), 0);
  });
});

/** Media that a publisher sends at once while a viewer waits. */
const STEP_MS = 40;

interface Publisher {
  readonly client: RtmpClient;
  /** Sends media up to this time, and resolves when a viewer of the edge has got some of it. */
  isSeen(untilMs: number): Promise<void>;
}

async function startWorld(t: TestContext, settings: Readonly<Record<string, string>>) {
  const service = await startService(t, { settings: { ...WITH_LIVE, ...settings } });
  const client: Client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const { domain_id } = await client.call('domain.add', { domain: HOST, cdn_type: '4' });
  await client.call('live.setRecording', { domain: HOST, record: '1' });
  await untilInForce({ client, domain_id });
  const port = Number(new URL(service.rtmpUrl).port);
  const edgePort = Number(new URL(service.edgeUrl).port);
  return {
    service,
    client,
    restart: () => runCommand(t, ['restart', '--data-dir', service.dataDir]),
    /** When the broadcast began that control has on air. */
    beginOf: (name: string) =>
      eventually(`${name} is on air`, async () => {
        const streams = await client.call('live.streams', { domain: HOST });
        return streams.find(({ stream_name, status }) => stream_name === name && status === 'ONGOING')?.timestamp;
      }),
    async publish(name: string, fromMs: number): Promise<Publisher> {
      const publisher = await eventually('the live process listens', () =>
        RtmpClient.openStream({ port, app: 'live', host: HOST }),
      );
      t.after(() => publisher[Symbol.asyncDispose]());
      assert.equal((await publisher.publish(name)).code, 'NetStream.Publish.Start');
      let sentMs = fromMs;
      const sendUntil = (untilMs: number) => {
        for (const message of frames({ fromMs: sentMs, untilMs, keyFrameMs: 500 })) publisher.send(message);
        sentMs = untilMs;
      };
      for (const message of [avcHeader(), aacHeader()]) publisher.send(message);
      sendUntil(fromMs + 500);
      return {
        client: publisher,
        async isSeen(untilMs) {
          sendUntil(Math.max(untilMs, sentMs));
          const sees = async (viewer: FlvClient) => {
            const before = viewer.names().length;
            const gotMore = () => viewer.names().length > before;
            // A viewer that came while its process died is cut, and connects again.
            await eventually('a viewer gets what follows, or is cut', () => {
              sendUntil(sentMs + STEP_MS);
              return gotMore() || viewer.ended() !== undefined;
            });
            return gotMore();
          };
          await eventually('a viewer of the edge sees the stream', async () => {
            const viewer = await openFlv(edgePort, `/live/${name}.flv`, { host: HOST });
            const isSeen = viewer.response.statusCode === 200 && (await sees(viewer));
            viewer.leave();
            return isSeen;
          });
        },
      };
    },
  };
}

function kill(service: RunningService, part: string): void {
  process.kill(service.pids()[part] ?? 0, 'SIGKILL');
}
