/** 40 viewers that stop reading a stream of 42 Mbit/s for a minute: the memory of the service stays flat. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { MediaMessage } from '#fanout/media/message.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_HOST, LiveOnService } from '../support/live/live-on-service.ts';
import { aacFrame, aacHeader, avcFrame, avcHeader } from '../support/live/media-messages.ts';
import { publishPaced } from '../support/live/paced-publisher.ts';
import { residentMib } from '../support/resident.ts';

const FLV_VIEWERS = 30;
const RTMP_VIEWERS = 10;
const FRAME_RATE = 30;
const FRAME_BYTES = 42_000_000 / 8 / FRAME_RATE;
const LOOK_AT_S = [10, 20, 40, 60];
/** What may wait for one viewer; `fanout/back-pressure.ts`. */
const CAP_MIB = 4;
/** The engine keeps some of what it has freed. */
const SLACK_MIB = 64;

test('40 stalled viewers at 42 Mbit/s for 60 s use constant memory at the cap', async (t) => {
  const world = await LiveOnService.start(t);
  const port = Number(new URL(world.service.rtmpUrl).port);
  const stream = `${await world.streamKey()}&vhost=${LIVE_HOST}`;
  const publisher = await eventually('the key is in force', () =>
    publishPaced(t, { port, app: 'live', stream, messages: film() }),
  );
  await eventually('it is on air', async () => (await world.metric('causeway_live_broadcasts')) === 1);
  await delay(5_000); // two groups of pictures
  const pids = world.service.pids();
  const look = () => ({
    live: residentMib(pids['live'] ?? assert.fail()),
    worker: residentMib(pids['edge-worker-1'] ?? assert.fail()),
  });
  const seen = [look()];
  const sentBytes = () => publisher.socket.bytesWritten - publisher.socket.writableLength;
  const sentBefore = sentBytes();
  const startedAt = performance.now();
  const crowd = startCrowd(t, world);
  for (const second of LOOK_AT_S) {
    while (performance.now() - startedAt < second * 1000) {
      await crowd.refill();
      await delay(500);
    }
    seen.push(look());
  }
  t.diagnostic(
    JSON.stringify({
      seconds: [0, ...LOOK_AT_S],
      live: seen.map(({ live }) => live),
      worker: seen.map(({ worker }) => worker),
      opened: crowd.opened(),
      mbitPerSecond: Math.round((sentBytes() - sentBefore) / 125_000 / (LOOK_AT_S.at(-1) ?? 1)),
    }),
  );
  assert.equal(publisher.hasEnded, false, 'the publisher was not disturbed');
  const [before = assert.fail(), , at20 = assert.fail(), , at60 = assert.fail()] = seen;
  assert.ok(at60.worker - before.worker <= FLV_VIEWERS * CAP_MIB + SLACK_MIB, 'worker: within the cap of all viewers');
  assert.ok(at60.live - before.live <= RTMP_VIEWERS * CAP_MIB + SLACK_MIB, 'live: within the cap of all viewers');
  for (const part of ['live', 'worker'] as const) assert.ok(at60[part] - at20[part] <= SLACK_MIB, `${part}: flat`);
});

/** Endless: a key frame each two seconds. */
function* film(): Generator<MediaMessage> {
  yield avcHeader();
  yield aacHeader();
  for (let frame = 0; ; frame++) {
    const at = Math.round((frame * 1000) / FRAME_RATE);
    yield avcFrame(at, frame % (2 * FRAME_RATE) === 0, { bytes: FRAME_BYTES });
    yield aacFrame(at);
  }
}

/** Viewers that read nothing. The service cuts each after a while; another one takes its place. */
function startCrowd(t: TestContext, world: LiveOnService) {
  const flv: Socket[] = [];
  const rtmp: Socket[] = [];
  let opened = 0;
  t.after(() => {
    for (const socket of [...flv, ...rtmp]) socket.destroy();
  });
  const fill = async (
    sockets: Socket[],
    metric: string,
    label: string,
    wanted: number,
    open: () => Promise<Socket>,
  ) => {
    const missing = wanted - (await world.metric(metric, label));
    for (let count = 0; count < missing; count++) {
      if (sockets.length >= wanted) sockets.shift()?.destroy();
      sockets.push(await open());
      opened++;
    }
  };
  return {
    opened: () => opened,
    refill: async () => {
      await fill(flv, 'causeway_edge_live_viewers', 'kind="flv"', FLV_VIEWERS, async () => {
        const socket = connect(world.edgePort, '127.0.0.1').on('error', () => {});
        socket.write(`GET /live/a.flv HTTP/1.1\r\nHost: ${LIVE_HOST}\r\n\r\n`);
        return socket;
      });
      await fill(rtmp, 'causeway_rtmp_connections', 'role="playing"', RTMP_VIEWERS, async () => {
        const player = await world.open();
        await player.play('a');
        return player.socket.pause();
      });
    },
  };
}
