/** RTMP over real sockets: publishing and playing, how connections end, and their bounds. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { createLogger } from '#lib/logger.ts';
import { eventually } from '../support/eventually.ts';
import { Ffmpeg, probeUrl } from '../support/live/ffmpeg-publisher.ts';
import { RtmpClient, sampleMessages } from '../support/live/rtmp-client.ts';
import { openSilent, publishSample, startTestRtmpServer } from '../support/live/rtmp-server.ts';
import { needs } from '../support/runner/needs.ts';

const APP = { app: 'live' };

describe('RTMP', () => {
  for (const schema of [undefined, 0, 1] as const)
    test(`a stream is published and played, handshake ${schema ?? 'simple'}`, async () => {
      await using server = await startTestRtmpServer();
      const at = { port: server.port, ...APP, ...(schema === undefined ? {} : { schema }) };
      await using publisher = await RtmpClient.openStream(at);
      assert.equal((await publisher.publish('a?auth_key=1')).code, 'NetStream.Publish.Start');
      const sent = sampleMessages(100, 0xffff00);
      for (const message of sent) publisher.send(message);
      const [published] = server.owner.published;
      await eventually('all messages', () => published?.messages.length === sent.length);
      assert.deepEqual(published?.messages, sent);

      await using player = await RtmpClient.openStream(at);
      assert.equal((await player.play('a')).code, 'NetStream.Play.Start');
      const isHere = () => player.media.length >= sent.length + 1;
      await eventually('all messages at the player', isHere);
      assert.deepEqual(player.media.slice(1), sent); // the first one gives leave to read samples

      publisher.unpublish('a');
      await player.ended();
      assert.equal(player.statuses.at(-1)?.code, 'NetStream.Play.UnpublishNotify');
      assert.deepEqual(published?.end, { kind: 'unpublished' });
      const { host, app, stream, query, flashVer, isTls } = published.request;
      assert.deepEqual(
        [host, app, stream, query.toString(), flashVer, isTls],
        ['127.0.0.1', 'live', 'a', 'auth_key=1', 'test/1.0', false],
      );
    });

  test('a closed publisher that ignores the close is not read any more, gets the reason, and is reset', async () => {
    await using server = await startTestRtmpServer();
    await using publisher = await publishSample(server, 'a');
    const [published] = server.owner.published;
    const count = published?.messages.length;
    published?.connection.close({ code: 'NetStream.Publish.Denied', description: 'forbidden' });
    // Within the call, not after it.
    assert.equal(published?.end?.kind, 'lost');
    const flood = setInterval(() => publisher.send({ kind: 'video', timestampMs: 9, data: Buffer.alloc(100_000) }), 5);
    await eventually('the reset', () => publisher.isClosed);
    clearInterval(flood);
    assert.equal(publisher.statuses.at(-1)?.code, 'NetStream.Publish.Denied');
    assert.equal(published?.messages.length, count);
  });

  test('a publisher is refused with the reason, and a failing owner refuses', async () => {
    await using server = await startTestRtmpServer();
    for (const [name, description] of [
      ['refused', 'not allowed'],
      ['broken', 'The service failed.'],
    ] as const) {
      await using publisher = await RtmpClient.openStream({ port: server.port, ...APP });
      assert.deepEqual(await publisher.publish(name), {
        level: 'error',
        code: 'NetStream.Publish.Denied',
        description,
      });
      await publisher.ended();
    }
    await using player = await RtmpClient.openStream({ port: server.port, ...APP });
    assert.equal((await player.play('nothing')).code, 'NetStream.Play.StreamNotFound');
    await player.ended();
  });

  test('clients that are refused again and again, and players that come and go, do not fill the log', async () => {
    const lines: string[] = [];
    const log = createLogger({ name: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } });
    await using server = await startTestRtmpServer({ log });
    await using _publisher = await publishSample(server, 'a');
    for (let n = 0; n < 15; n++) {
      await using refused = await RtmpClient.openStream({ port: server.port, ...APP });
      await refused.publish('refused');
      await refused.ended();
      await using player = await RtmpClient.openStream({ port: server.port, ...APP });
      await player.play('a');
    }
    await eventually('all players have left', () => server.owner.left.length === 15);
    for (const message of ['RTMP connection refused', 'RTMP player ended'])
      assert.equal(lines.filter((line) => line.includes(message)).length, 10, message);
  });

  test('a publisher whose link breaks is lost, even within a message, and so is one that ends without unpublishing', async () => {
    await using server = await startTestRtmpServer();
    for (const leave of [
      (client: RtmpClient) => client.break(),
      (client: RtmpClient) => client.socket.end(Buffer.from('04000000ffff0900', 'hex')),
    ]) {
      await using publisher = await publishSample(server, 'a');
      leave(publisher);
      const published = server.owner.published.at(-1);
      await eventually('the end', () => published?.end?.kind === 'lost');
    }
  });

  test('a client publishes again on the same connection', async () => {
    await using server = await startTestRtmpServer();
    await using publisher = await publishSample(server, 'a');
    publisher.unpublish('a');
    await publisher.createStream();
    assert.equal(publisher.streamId, 1);
    assert.equal((await publisher.publish('b')).code, 'NetStream.Publish.Start');
    assert.deepEqual(
      server.owner.published.map(({ request, end }) => [request.stream, end?.kind]),
      [
        ['a', 'unpublished'],
        ['b', undefined],
      ],
    );
  });

  test('500 connections that finish no handshake keep nobody from publishing', async (t) => {
    await using server = await startTestRtmpServer();
    const silent = await openSilent(t, server.port, 500);
    await using neighbour = await publishSample(server, 'a', { from: '127.0.0.2' });
    await using same = await publishSample(server, 'b');
    assert.deepEqual([neighbour.hasEnded, same.hasEnded], [false, false]);
    await eventually('the oldest ended', () => silent.filter(({ destroyed }) => !destroyed).length <= 32);
    const metrics = await server.registry.metrics();
    assert.match(metrics, /causeway_rtmp_connections\{role="publishing"\} 2\n/);
    assert.match(metrics, /causeway_rtmp_ended_connections_total\{reason="crowded"\} (?:469|470)\n/);
  });

  test('waiting connections are bounded in total, whatever their addresses', async (t) => {
    await using server = await startTestRtmpServer({ limits: { maxWaiting: 10 } });
    const silent: Socket[] = [];
    for (let host = 2; host < 32; host++)
      silent.push(...(await openSilent(t, server.port, 1, { from: `127.0.0.${String(host)}` })));
    await eventually('the oldest ended', () => silent.filter(({ destroyed }) => !destroyed).length === 10);
    assert.deepEqual(
      silent.map(({ destroyed }) => destroyed),
      silent.map((_, index) => index < 20),
    );
  });

  test('a client that sends commands and reads no answers is ended', async (t) => {
    await using server = await startTestRtmpServer({ limits: { maxQueuedAnswerBytes: 10_000 } });
    await using client = await RtmpClient.openStream({ port: server.port, ...APP });
    client.socket.pause();
    const flood = setInterval(() => {
      for (let index = 0; index < 2000; index++) client.sendCommand(0, 'getStreamLength', 9, null);
    }, 5);
    t.after(() => clearInterval(flood));
    await eventually('the end', async () =>
      (await server.registry.metrics()).includes('connections_total{reason="unread"} 1'),
    );
  });

  test('closing ends waiting connections at once, and publishing ones after the grace', async () => {
    const server = await startTestRtmpServer();
    await using waiting = await RtmpClient.open({ port: server.port });
    await using publisher = await publishSample(server, 'a');
    const closed = server.close(1_500);
    await waiting.ended();
    assert.equal(server.owner.published[0]?.end, undefined);
    await closed;
    assert.match(JSON.stringify(server.owner.published[0]?.end), /stopping/);
    await publisher.ended();
  });
});

describe('a trusted proxy of RTMP', () => {
  const TRUSTED = { trustedProxies: ['127.0.0.0/8'], proxyProtocol: 'required' } as const;

  test('a trusted proxy names the client of an RTMP connection', async () => {
    await using server = await startTestRtmpServer(TRUSTED);
    const preamble = Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 4711 1935\r\n', 'latin1');
    await using _publisher = await publishSample(server, 'a', { preamble });
    const [published] = server.owner.published;
    assert.deepEqual(
      [published?.request.clientAddress, published?.connection.clientAddress],
      ['192.0.2.7', '192.0.2.7'],
    );
  });

  test('clients of a trusted proxy are counted by their own addresses', async (t) => {
    await using server = await startTestRtmpServer({ ...TRUSTED, limits: { maxWaitingPerNetwork: 2 } });
    const silent: Socket[] = [];
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.1', '192.0.2.1']) {
      const first = Buffer.from(`PROXY TCP4 ${address} 198.51.100.1 1 1935\r\n\x03`, 'latin1');
      silent.push(...(await openSilent(t, server.port, 1, { first })));
    }
    await eventually('the oldest of one address ended', () => silent[0]?.destroyed === true);
    assert.deepEqual(
      silent.map(({ destroyed }) => destroyed),
      [true, false, false, false, false],
    );
  });

  test('a trusted proxy without a PROXY header is not served', async () => {
    await using server = await startTestRtmpServer(TRUSTED);
    await assert.rejects(RtmpClient.open({ port: server.port }), /the server ended the connection|ECONNRESET/);
  });
});

describe('ffmpeg', needs('ffmpeg', 'ffprobe'), () => {
  test('ffmpeg publishes, and ffprobe plays until the end of the stream', async () => {
    await using server = await startTestRtmpServer();
    const url = `rtmp://127.0.0.1:${server.port}/live/a`;
    await using encoder = new Ffmpeg(`${url}?auth_key=1-2-3-4`, { seconds: 4 });
    await eventually('the first key frame', () => (server.owner.published[0]?.messages.length ?? 0) > 10);
    const [video, audio] = await probeUrl(url);
    assert.equal(video, 'h264,120');
    assert.match(audio ?? '', /^aac,17[2-4]$/);
    assert.equal(await encoder.ended(), 0, encoder.log);
    const [published] = server.owner.published;
    assert.deepEqual(published?.end, { kind: 'unpublished' });
    assert.equal(published?.request.query.get('auth_key'), '1-2-3-4');
  });
});
