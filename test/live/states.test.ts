/** The life of a stream over real sockets: publishers, the list that workers read, what control is told. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { makeAuthKey } from '#sites/live-key.ts';
import { eventually } from '../support/eventually.ts';
import { OTHER_HOST, startLiveWorld } from '../support/live/live-world.ts';
import { aacHeader, avcFrame, avcHeader, frames } from '../support/live/media-messages.ts';
import { RtmpClient, sampleMessages } from '../support/live/rtmp-client.ts';

const FORBIDDEN = { forbidden: true, until: 0, kicked: '' };
const FREE = { forbidden: false, until: 0, kicked: '' };

describe('a stream', () => {
  test('a stream is on air from its first media to its end, and control is notified', async (t) => {
    const world = await startLiveWorld(t);
    const publisher = await world.publish('a');
    const status = await eventually('control knows it with its last header', () => {
      const [first] = world.report()?.streams ?? [];
      return first?.audioCodec === 'mp4a' && first;
    });
    assert.deepEqual(
      [status.stream, status.source, status.address, status.isInGrace, status.videoCodec, status.flashVer],
      ['a', 'publish', '127.0.0.1', false, 'avc1', 'test/1.0'],
    );
    for (const message of [avcHeader(), ...frames({ fromMs: 1_000, untilMs: 4_000 })]) publisher.send(message);
    await eventually('its size and key frames are known', () => {
      const { width, height, keyFrameMs } = world.report()?.streams?.[0] ?? {};
      return width === 320 && height === 180 && keyFrameMs === 2_000;
    });
    publisher.unpublish('a');
    await eventually('it has ended', () => world.told.length === 2);
    assert.deepEqual(world.told, ['began a', 'ended a unpublished']);
    await eventually('workers know', () => world.states.get('a') === 'none');
    await eventually('nothing is on air', () => world.report()?.streams?.length === 0);
  });

  test('a stream whose link broke is waited for, and continues as the same broadcast', async (t) => {
    const world = await startLiveWorld(t);
    const first = await world.publish('a');
    const viewer = await world.openFlv('a');
    const broadcast = viewer.headers['causeway-broadcast'];
    let bytes = 0;
    viewer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    first.break();
    await eventually('it waits', () => world.states.get('a') === 'grace');
    const before = bytes;
    await world.publish('a');
    await eventually('the viewer goes on', () => bytes > before);
    assert.equal((await world.openFlv('a')).headers['causeway-broadcast'], broadcast);
    assert.deepEqual(world.told, ['began a']);
  });

  test('a stream whose publisher does not come back ends with its last media', async (t) => {
    const world = await startLiveWorld(t, { limits: { graceMs: 300 } });
    const publisher = await world.publish('a');
    const viewer = await world.openFlv('a');
    const ended = new Promise((resolve) => viewer.resume().on('end', resolve));
    publisher.break();
    await eventually('it has ended', () => world.told.includes('ended a lost'));
    await ended;
    const [began, end] = world.events;
    assert.ok(began !== undefined && end !== undefined && end.at >= began.at && end.at - began.at < 10_000);
  });

  test('a stream is published by one publisher at a time', async (t) => {
    const world = await startLiveWorld(t);
    await world.publish('a');
    const second = await world.publisher();
    assert.equal((await second.publish('a')).code, 'NetStream.Publish.BadName');
    assert.equal(world.states.get('a'), 'live');
  });

  test('a stream is taken over from a publisher that has fallen silent', async (t) => {
    const world = await startLiveWorld(t, { limits: { takeoverMs: 200 } });
    const silent = await world.publish('a');
    const second = await eventually('the second one is let in', async () => {
      const client = await world.publisher();
      return (await client.publish('a')).code === 'NetStream.Publish.Start' && client;
    });
    await silent.ended();
    for (const message of sampleMessages(10)) second.send(message);
    await eventually('it goes on', () => world.states.get('a') === 'live');
    assert.deepEqual(world.told, ['began a']);
  });

  test('a stream whose publisher is silent for too long waits for another', async (t) => {
    const world = await startLiveWorld(t, { limits: { silenceMs: 300 } });
    const silent = await world.publish('a');
    await silent.ended();
    await eventually('it waits', () => world.states.get('a') === 'grace');
  });
});

describe('an order about a stream', () => {
  test('an order to forbid cuts publisher and viewers at once, and cannot be circumvented', async (t) => {
    const world = await startLiveWorld(t);
    const publisher = await world.publish('a'); // it does not close its side when the server does
    const viewer = await world.openFlv('a');
    const cut = new Promise((resolve) => viewer.resume().on('close', resolve));
    world.setMark('a', FORBIDDEN);
    // Whatever the publisher still sends: in the moment in which the mark arrived nothing of it counts any more.
    assert.equal((await world.openFlv('a')).statusCode, 404);
    await cut;
    await eventually('workers know', () => world.states.get('a') === 'paused');
    await eventually('the connection of one that ignores FIN is reset', () => {
      publisher.send(sampleMessages(1)[1] ?? assert.fail());
      return publisher.isClosed;
    });
    assert.equal(publisher.statuses.at(-1)?.code, 'NetStream.Publish.Denied');
    const again = await world.publisher();
    assert.equal((await again.publish('a')).code, 'NetStream.Publish.Denied');
    await eventually('control knows', () => world.told.length === 2);
    assert.deepEqual(world.told, ['began a', 'ended a forbidden']);
    world.setMark('a', FREE);
    assert.equal(world.states.get('a'), 'paused');
    await world.publish('a');
  });

  // arut/nginx-rtmp-module#980
  test('an order affects only the stream that it names, not those with similar names', async (t) => {
    const world = await startLiveWorld(t);
    const others = await Promise.all([
      world.publish('A'),
      world.publish('ab'),
      world.publish('a', { app: 'live2' }),
      world.publish('a', { host: OTHER_HOST }),
    ]);
    const named = await world.publish('a');
    world.setMark('a', FORBIDDEN);
    await named.ended();
    await eventually('control knows', () => world.told.includes('ended a forbidden'));
    for (const other of others) other.send(sampleMessages(1)[1] ?? assert.fail());
    assert.deepEqual(
      ['A', 'ab', '7/live2/a', '8/live/a'].map((name) => world.states.get(name)),
      ['live', 'live', 'live', 'live'],
    );
    assert.deepEqual(
      world.told.filter((event) => event.startsWith('ended')),
      ['ended a forbidden'],
    );
    assert.deepEqual(
      others.map(({ hasEnded }) => hasEnded),
      others.map(() => false),
    );
  });

  test('an order to forbid a stream that was never seen holds, also in another process', async (t) => {
    const world = await startLiveWorld(t);
    world.setMark('x', FORBIDDEN);
    await eventually('workers know', () => world.states.get('x') === 'paused');
    assert.equal((await (await world.publisher()).publish('x')).code, 'NetStream.Publish.Denied');
    world.control.isAway = true;
    await world.restart();
    assert.equal(world.states.get('x'), 'paused');
    assert.equal((await (await world.publisher()).publish('x')).code, 'NetStream.Publish.Denied');
  });

  test('an order to forbid until a time ends then by itself', async (t) => {
    const world = await startLiveWorld(t);
    world.setMark('a', { forbidden: true, until: Date.now() + 400, kicked: '' });
    await eventually('it is paused', () => world.states.get('a') === 'paused');
    await eventually('it is resumed', () => world.states.get('a') === 'none');
    await world.publish('a');
  });

  test('an order to kick ends the broadcast, and the publisher may come back', async (t) => {
    const world = await startLiveWorld(t);
    const publisher = await world.publish('a');
    await eventually('control knows it', () => world.events.length === 1);
    world.setMark('a', { forbidden: false, until: 0, kicked: world.events[0]?.broadcast ?? '' });
    await publisher.ended();
    await world.publish('a');
    await eventually('control knows both', () => world.told.length === 3);
    assert.deepEqual(world.told, ['began a', 'ended a kicked', 'began a']);
  });

  test('an order to close the domain ends its broadcasts; when it is opened again it accepts publishers', async (t) => {
    const world = await startLiveWorld(t);
    const publisher = await world.publish('a');
    world.setSite({ state: 'closed' });
    await publisher.ended();
    await eventually('control knows', () => world.told.includes('ended a closed'));
    assert.equal((await (await world.publisher()).publish('a')).code, 'NetStream.Publish.Denied');
    world.setSite({ state: 'open' });
    await world.publish('a');
  });

  test('an order of control that another process owns the stream ends it here', async (t) => {
    const world = await startLiveWorld(t);
    const publisher = await world.publish('a');
    await eventually('control knows it', () => world.events.length === 1);
    world.control.notOwned = [world.events[0]?.broadcast ?? ''];
    await publisher.ended();
    assert.equal(publisher.statuses.at(-1)?.code, 'NetStream.Publish.BadName');
    await eventually('control knows', () => world.told.includes('ended a replaced'));
  });
});

describe('a publisher', () => {
  test('a publisher needs a key if the domain requires keys', async (t) => {
    const world = await startLiveWorld(t, { pushAuth: 'required' });
    const key = 'publishpublish16';
    world.setKeys({ publish: [key], play: [] });
    assert.equal((await (await world.publisher()).publish('a')).code, 'NetStream.Publish.Denied');
    const keyWith = (expiresInMs: number, signedWith = key) =>
      makeAuthKey({ path: '/live/a', key: signedWith, expiresAt: Date.now() + expiresInMs, random: '0' });
    const publish = async (value: string) => (await world.publisher()).publish(`a?auth_key=${value}`);
    // Only the holder of the right key learns that its address has expired.
    assert.equal((await publish(keyWith(-60_000))).description, 'the address has expired');
    for (const expiresInMs of [-60_000, 60_000])
      assert.equal((await publish(keyWith(expiresInMs, 'another.another1'))).description, 'publishing is refused');
    assert.equal((await publish(keyWith(60_000))).code, 'NetStream.Publish.Start');
  });

  test('a publisher that the domain refuses by its address is cut while it is on air', async (t) => {
    const world = await startLiveWorld(t);
    const publisher = await world.publish('a');
    world.setSite({ access: { deniedAddresses: ['127.0.0.1'] } });
    await publisher.ended();
    assert.equal((await (await world.publisher()).publish('a')).code, 'NetStream.Publish.Denied');
  });

  test('a publisher for a host that is not a live domain is refused', async (t) => {
    const world = await startLiveWorld(t);
    await using client = await RtmpClient.openStream({ port: world.live.rtmpPort, app: 'live', host: 'other.example' });
    assert.equal((await client.publish('a')).code, 'NetStream.Publish.Denied');
  });

  // ossrs/srs#1356
  test('a refused publisher that keeps sending is never on air', async (t) => {
    const world = await startLiveWorld(t);
    world.setMark('a', FORBIDDEN);
    const client = await world.publisher();
    // All at once: what it sends is there before the refusal has reached it.
    const refused = client.publish('a');
    for (const message of sampleMessages(10)) client.send(message);
    assert.equal((await refused).code, 'NetStream.Publish.Denied');
    await client.ended();
    world.setMark('a', FREE);
    await eventually('it is resumed', () => world.states.get('a') === 'none');
    assert.deepEqual(world.told, []);
    assert.equal((await world.openFlv('a')).statusCode, 404);
  });

  test('a publisher that sends no media is closed, and nothing was on air', async (t) => {
    const world = await startLiveWorld(t, { limits: { firstMediaMs: 200 } });
    const publisher = await world.publisher();
    assert.equal((await publisher.publish('a')).code, 'NetStream.Publish.Start');
    await publisher.ended();
    assert.deepEqual(world.told, []);
  });
});

// winshining/nginx-http-flv-module#13, #56; illuspas/Node-Media-Server#217
test('broadcasts that are over, and their viewers, leave no memory behind', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  assert.ok(typeof collect === 'function');
  const world = await startLiveWorld(t);
  const frame = avcFrame(0, true, { bytes: 1024 * 1024 });
  const round = async () => {
    await using publisher = await world.publisher();
    await publisher.publish('a');
    for (const message of [avcHeader(), frame]) publisher.send(message);
    await eventually('it is on air', () => world.states.get('a') === 'live');
    const viewer = await world.openFlv('a');
    const ended = once(viewer.resume(), 'close');
    publisher.unpublish('a');
    await ended;
    await eventually('it is over', () => world.states.get('a') === 'none');
  };
  await round();
  collect();
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 40; count++) await round();
  await eventually('the memory is free', () => {
    collect();
    return process.memoryUsage().arrayBuffers - before < 10 * 1024 * 1024;
  });
});

test('sessions by RTMP are in the access log, without their keys', async (t) => {
  const world = await startLiveWorld(t);
  const publisher = await world.publisher();
  await publisher.publish('a?auth_key=secret&x=1');
  for (const message of sampleMessages(10)) publisher.send(message);
  await eventually('it is on air', () => world.states.get('a') === 'live');
  const player = await world.publisher();
  await player.play('a');
  await (await world.publisher()).play('none');
  await (await world.publisher()).publish('a');
  publisher.unpublish('a');
  await eventually('all have ended', () => world.lines.length === 4);
  const outcomes = world.lines.map(({ method, cacheCode, status }) => `${method} ${cacheCode}/${status}`);
  assert.deepEqual(outcomes.sort(), ['PLAY NONE/404', 'PLAY TCP_HIT/200', 'PUBLISH NONE/200', 'PUBLISH NONE/409']);
  const line = world.lines.find(({ method, status }) => method === 'PUBLISH' && status === 200);
  assert.deepEqual(
    [line?.target, line?.protocol, line?.userAgent, line?.host],
    ['rtmp://live.example.com/live/a?auth_key=***&x=1', 'RTMP/1.0', 'test/1.0', 'live.example.com'],
  );
  assert.ok((line?.requestBytes ?? 0) > 9_000 && line?.isContinued === false);
});

test('workers get the files of HLS, and after the end a playlist that says so', async (t) => {
  const world = await startLiveWorld(t);
  const publisher = await world.publish('a');
  for (const message of [avcHeader(), aacHeader()]) publisher.send(message);
  let fromMs = 0;
  const more = setInterval(() => {
    for (const message of frames({ fromMs, untilMs: fromMs + 1_000, keyFrameMs: 1_000 })) publisher.send(message);
    fromMs += 1_000;
  }, 50);
  t.after(() => clearInterval(more));
  const broadcast = String((await world.openFlv('a')).headers['causeway-broadcast']);
  const file = async (name: string) => {
    const answer = await world.get(`/streams/7/live/a/hls/${broadcast}/${name}`);
    return { status: answer.statusCode, caching: answer.headers['cache-control'], body: await text(answer) };
  };
  const multivariant = await file('index.m3u8');
  assert.match(multivariant.body, new RegExp(`^a/${broadcast}/media\\.m3u8$`, 'm'));
  const media = await eventually('a whole segment', async () => {
    const playlist = await file('media.m3u8');
    return /^\d+\.m4s$/m.test(playlist.body) && playlist;
  });
  assert.equal(media.caching, 'max-age=1');
  const init = /URI="(init-\d+\.mp4)"/.exec(media.body)?.[1] ?? assert.fail('no init segment');
  const [segment] = /^\d+\.m4s$/m.exec(media.body) ?? assert.fail('no segment');
  for (const name of [init, segment]) {
    const { status, caching, body } = await file(name);
    assert.deepEqual([status, caching, body.length > 0], [200, 'max-age=3600, immutable', true]);
  }
  assert.equal((await file('media.m3u8?_HLS_msn=99999')).status, 400);
  assert.equal((await file('media.m3u8?_HLS_part=1')).status, 400);
  assert.equal((await file('no.txt')).status, 404);
  assert.equal((await world.get('/streams/7/live/a/hls/other/media.m3u8')).statusCode, 404);
  clearInterval(more);
  publisher.unpublish('a');
  await eventually('it has ended', () => world.told.includes('ended a unpublished'));
  assert.match((await file('media.m3u8')).body, /^#EXT-X-ENDLIST$/m);
  world.setMark('a', FORBIDDEN);
  assert.equal((await file('media.m3u8')).status, 404);
});

test('a player by RTMP gets the stream, is counted, and is cut when its address is refused', async (t) => {
  const world = await startLiveWorld(t);
  await world.publish('a');
  await using player = await RtmpClient.openStream({
    port: world.live.rtmpPort,
    app: 'live',
    host: 'live.example.com',
  });
  assert.equal((await player.play('a')).code, 'NetStream.Play.Start');
  await eventually('media', () => player.media.some(({ kind }) => kind === 'video'));
  await eventually('it is counted', () => world.report()?.streams?.[0]?.viewers.rtmp === 1);
  assert.equal((await (await world.publisher()).play('b')).code, 'NetStream.Play.StreamNotFound');
  world.setSite({ access: { deniedAddresses: ['127.0.0.1'] } });
  await player.ended();
});

test('streams continue while control is away, and it gets all events when it is back', async (t) => {
  const world = await startLiveWorld(t);
  world.control.isAway = true;
  const publisher = await world.publish('a');
  publisher.unpublish('a');
  await eventually('it has ended', () => world.states.get('a') === 'none');
  await world.publish('b');
  assert.deepEqual(world.told, []);
  await world.restart(); // unacknowledged events outlive the process
  world.control.isAway = false;
  await eventually('control has heard all', () => world.told.length === 4);
  assert.deepEqual(world.told, ['began a', 'ended a unpublished', 'began b', 'ended b stopped']);
});
