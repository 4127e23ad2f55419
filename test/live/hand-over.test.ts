/** A live process that takes over from another one: streams go on where they are, and new ones are the successor's. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { LiveFile } from '#live/live-file.ts';
import { eventually } from '../support/eventually.ts';
import { openFlv } from '../support/live/live-edge.ts';
import { LIVE_HOST, probeUrl, startLiveService } from '../support/live/live-service.ts';
import { HOST, type LiveWorld, startLiveWorld } from '../support/live/live-world.ts';
import { aacHeader, avcHeader, frames } from '../support/live/media-messages.ts';
import { type RtmpClient, sampleMessages } from '../support/live/rtmp-client.ts';
import { isAlive, runCommand } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';

const MINUTE_MS = 60_000;

describe('a live process that takes over', () => {
  test('streams of the earlier process go on until they end, and are served by the later one', async (t) => {
    const world = await startLiveWorld(t);
    const publisher = await world.publish('a');
    const player = await play(world, 'a');
    const viewer = await world.openFlv('a');
    const broadcast = viewer.headers['causeway-broadcast'];
    let bytes = 0;
    viewer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const { drained } = await world.handOver(MINUTE_MS);
    assert.equal(world.states.get('a'), 'live');
    const [seen, played] = [bytes, player.media.length];
    for (const message of sampleMessages(50, 200)) publisher.send(message);
    await eventually('present viewers go on', () => bytes > seen && player.media.length > played);
    assert.equal((await world.openFlv('a')).headers['causeway-broadcast'], broadcast);
    const later = await play(world, 'a');
    await eventually('an RTMP player of the later process gets media', () => later.media.length > 0);
    const second = await world.publisher();
    assert.equal((await second.publish('a')).code, 'NetStream.Publish.BadName');

    const next = await world.publish('b');
    await eventually('control gets both in one report', () => streamsOf(world) === 'b,a');
    await eventually('players of both processes are counted', () => statusOf(world, 'a')?.viewers.rtmp === 2);
    publisher.unpublish('a');
    await drained;
    await Promise.all([player.ended(), later.ended()]);
    await eventually('workers know', () => world.states.get('a') === 'none');
    next.unpublish('b');
    await eventually('all have ended', () => world.told.length === 4);
    assert.deepEqual(world.told, ['began a', 'began b', 'ended a unpublished', 'ended b unpublished']);
  });

  test('HLS viewers go on with the playlist of the earlier process', async (t) => {
    const world = await startLiveWorld(t);
    const publisher = await world.publish('a');
    const { broadcast } = await eventually('control knows it', () => statusOf(world, 'a'));
    const get = async (file: string) => {
      const answer = await world.get(`/streams/7/live/a/hls/${broadcast}/${file}`);
      return [answer.statusCode, await text(answer)] as const;
    };
    const first = get('index.m3u8');
    await eventually('HLS is made', async () => (await world.metric('causeway_live_hls_requests_total')) > 0);
    for (const message of [avcHeader(), aacHeader(), ...frames({ fromMs: 1_000, untilMs: 9_000 })])
      publisher.send(message);
    await first;
    await world.handOver(MINUTE_MS);
    assert.match((await get('index.m3u8'))[1], new RegExp(`^a/${broadcast}/media\\.m3u8$`, 'm'));
    const [status, playlist] = await get('media.m3u8');
    assert.equal(status, 200);
    assert.match(playlist, /^#EXTM3U/);
    assert.equal((await get('nothing.m4s'))[0], 404);
    assert.equal((await world.get('/streams/7/live/none/flv')).statusCode, 404);
  });

  test('a publisher whose link breaks continues at the later process', async (t) => {
    const world = await startLiveWorld(t);
    const publisher = await world.publish('a');
    const { drained } = await world.handOver(MINUTE_MS);
    publisher.break();
    await eventually('it is waited for', () => world.states.get('a') === 'grace');
    await world.publish('a');
    await drained;
    assert.deepEqual(world.told.toSorted(), ['began a', 'began a', 'ended a lost']);
    await eventually('one is on air', () => streamsOf(world) === 'a');
  });

  test('publishers and players that are left at the limit are ended', async (t) => {
    const world = await startLiveWorld(t);
    const publisher = await world.publish('a');
    const player = await play(world, 'a');
    const { drained } = await world.handOver(300);
    await Promise.all([drained, publisher.ended(), player.ended()]);
    await eventually('control knows', () => world.told.includes('ended a stopped'));
    await world.publish('a');
  });

  test('what the earlier process could not tell control is told by the later one', async (t) => {
    const world = await startLiveWorld(t);
    const publisher = await world.publish('a');
    await eventually('control knows it', () => world.told.length === 1);
    world.control.isAway = true;
    const { drained } = await world.handOver(MINUTE_MS);
    publisher.unpublish('a');
    await drained;
    world.control.isAway = false;
    await eventually('control knows its end', () => world.told.includes('ended a unpublished'));
    assert.ok(!existsSync(world.placesOf(0).file), 'the file of the earlier process is gone');
  });

  test('what a process leaves that ends after the start of this one is told, as after a restart that has failed', async (t) => {
    const world = await startLiveWorld(t);
    const { file, socketPath } = world.placesOf(2);
    {
      using left = new LiveFile(file, { onMoved: assert.fail, onLost: assert.fail, onRestored: assert.fail });
      const at = { domainId: 7, app: 'live', stream: 'left', broadcast: 'f'.repeat(32), at: 5 };
      left.append({ kind: 'began', ...at, source: 'publish', address: '192.0.2.1' });
    }
    const ending = createServer().listen(socketPath);
    await once(ending, 'listening');
    await world.restart();
    await world.publish('a');
    assert.deepEqual([world.told, existsSync(file)], [['began a'], true]);
    ending.close();
    await eventually('control knows its end', () => world.told.includes('ended left crashed'));
    assert.equal(existsSync(file), false);
  });

  test('a broadcast that another machine has is ended wherever it is, and marks reach all processes', async (t) => {
    const world = await startLiveWorld(t);
    const [a, b] = [await world.publish('a'), await world.publish('b')];
    const { broadcast } = await eventually('control knows it', () => statusOf(world, 'a'));
    await world.handOver(MINUTE_MS);
    world.control.notOwned = [broadcast];
    await a.ended();
    world.setMark('b', { forbidden: true, until: 0, kicked: '' });
    await b.ended();
    await eventually('both have ended', () => world.told.length === 4);
    assert.deepEqual(world.told.slice(2), ['ended a replaced', 'ended b forbidden']);
  });

  test('three processes in a row are one for viewers', async (t) => {
    const world = await startLiveWorld(t);
    const a = await world.publish('a');
    const first = await world.handOver(MINUTE_MS);
    const b = await world.publish('b');
    const second = await world.handOver(MINUTE_MS);
    await world.publish('c');
    for (const stream of ['a', 'b', 'c']) assert.equal((await world.openFlv(stream)).statusCode, 200, stream);
    await eventually('control gets all', () => streamsOf(world) === 'c,b,a');
    b.unpublish('b');
    a.unpublish('a');
    await Promise.all([first.drained, second.drained]);
    assert.equal(world.states.get('c'), 'live');
  });
});

test(
  'ffmpeg publishes through a restart, and viewers see both processes as one',
  needs('curl', 'ffmpeg', 'ffprobe', 'openssl', { timeout: 300_000 }),
  async (t) => {
    const { service, edgeUrl, publish, status } = await startLiveService(t);
    const first = publish('a');
    await eventually('on air', async () => (await status('/live/a.flv')) === 200);
    const viewer = await openFlv(Number(new URL(edgeUrl).port), '/live/a.flv', { host: LIVE_HOST });
    assert.equal(viewer.response.statusCode, 200);
    let bytes = 0;
    viewer.response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const { live } = service.pids();
    const { code, stderr } = await runCommand(t, ['restart', '--data-dir', service.dataDir]);
    assert.deepEqual([code, stderr], [0, '']);
    const pids = service.pids();
    assert.ok(pids['live'] === live && pids['live-b'] !== undefined, JSON.stringify(pids));
    const seen = bytes;
    await eventually('the present viewer goes on', () => bytes > seen + 100_000);
    const second = publish('b');
    await eventually('another stream is on air', async () => (await status('/live/b.flv')) === 200);
    const rtmp = `rtmp://${new URL(service.rtmpUrl).host}/live/a?vhost=${LIVE_HOST}`;
    for (const url of [`${edgeUrl}/live/a.flv`, `${edgeUrl}/live/a.m3u8`, rtmp]) {
      const { codecs, packets, complaints } = await probeUrl(url, 2);
      assert.equal(codecs, 'aac h264', `${url}: ${complaints}`);
      assert.ok(packets > 60, `${url}: ${packets} packets`);
    }
    await first.stop();
    await eventually('the viewer has the end', () => viewer.ended() === 'whole');
    await eventually('the earlier process has ended', () => live !== undefined && !isAlive(live));
    assert.equal(await status('/live/b.flv'), 200);
    await second.stop();
    assert.equal(await service.stop(), 0);
    assert.doesNotMatch(service.process.stderr(), /"level":"(error|fatal)"/);
  },
);

async function play(world: LiveWorld, stream: string): Promise<RtmpClient> {
  const client = await world.publisher({ host: HOST });
  assert.equal((await client.play(stream)).code, 'NetStream.Play.Start');
  return client;
}

/** Names of the streams on air in the latest report, in its order. */
function streamsOf(world: LiveWorld): string | undefined {
  return world
    .report()
    ?.streams?.map(({ stream }) => stream)
    .join();
}

function statusOf(world: LiveWorld, name: string) {
  return world.report()?.streams?.find(({ stream }) => stream === name);
}
