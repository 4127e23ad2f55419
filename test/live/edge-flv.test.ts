/** HTTP-FLV and WebSocket-FLV of a live domain, from a scripted live process. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { flvHeader } from '../../src/fanout/media/flv.ts';
import { connectRaw, loopback, NO_ORIGINS, SITE_HOST } from '../support/edge/edge.ts';
import { startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { media, openFlv, sees, startLiveEdge } from '../support/live/live-edge.ts';

const FLV = '/live/a.flv';

test('all viewers of a stream have one connection to its owner, and each begins at the key frame', async (t) => {
  const { port, owner, registry } = await startLiveEdge(t);
  owner.tell('a', 'live', 'b1');
  owner.push(...media('V1', 'k1', 'a2'));
  await eventually('known', async () => (await openFlv(port, FLV)).response.statusCode === 200);
  const viewers = await Promise.all(Array.from({ length: 5 }, () => openFlv(port, FLV)));
  owner.push(...media('v3'));
  for (const viewer of viewers) await sees(viewer, 'V1 k1 a2 v3');
  const metrics = await registry.metrics();
  assert.match(metrics, /causeway_edge_live_viewers\{kind="flv"\} [56]\n/); // the one that asked whether it is known may still be there
  assert.match(metrics, /causeway_edge_live_relays 1\n[\s\S]*causeway_edge_live_synced 1\n/);
  const { response } = viewers[0] ?? assert.fail();
  assert.equal(response.headers['content-type'], 'video/x-flv');
  assert.equal(response.headers['cache-control'], 'no-store');
  assert.equal(response.headers['access-control-allow-origin'], '*');
  assert.equal(response.headers.connection, 'close');
  assert.equal(response.headers['transfer-encoding'], undefined);
  assert.deepEqual(owner.asked, ['/streams/1/live/a/flv']);
  const late = await openFlv(port, FLV);
  await sees(late, 'V1 k1 a2 v3');
  for (const flv of owner.flv) flv.end();
  for (const viewer of [...viewers, late]) await eventually('ended', () => viewer.ended() === 'whole');
});

describe('a stream', () => {
  test('a forbidden stream is cut and refused, after the access rules of the domain', async (t) => {
    const edge = await startLiveEdge(t);
    const { port, owner, get, put } = edge;
    owner.tell('a', 'live', 'b1');
    owner.push(...media('V1', 'k1'));
    await eventually('known', async () => (await get('/live/a.flv', { method: 'HEAD' })).status === 200);
    const viewer = await openFlv(port, FLV);
    await sees(viewer, 'V1 k1');
    owner.tell('a', 'paused');
    await eventually('cut', () => viewer.ended() !== undefined);
    for (const path of [FLV, '/live/a.m3u8', '/live/a/b1/media.m3u8']) {
      const refused = await get(path);
      assert.deepEqual([refused.status, refused.headers['x-cache']], [403, 'DENIED paused'], path);
    }
    put({ name: SITE_HOST, access: { deniedAddresses: ['127.0.0.1'] } });
    assert.equal((await get(FLV)).headers['x-cache'], 'DENIED ip');
  });

  test('a new broadcast of a stream cuts the viewers of the one before', async (t) => {
    const { port, owner, get } = await startLiveEdge(t);
    owner.tell('a', 'live', 'b1');
    owner.push(...media('V1', 'k1'));
    await eventually('known', async () => (await get(FLV, { method: 'HEAD' })).status === 200);
    const viewer = await openFlv(port, FLV);
    owner.tell('a', 'live', 'b2');
    await eventually('cut', () => viewer.ended() !== undefined);
    await sees(await openFlv(port, FLV), 'V1 k1');
    assert.equal(owner.asked.length, 2);
  });

  test('a stream in grace holds its viewers', async (t) => {
    const { port, owner, get } = await startLiveEdge(t);
    owner.tell('a', 'live', 'b1');
    owner.push(...media('V1', 'k1'));
    await eventually('known', async () => (await get(FLV, { method: 'HEAD' })).status === 200);
    const viewer = await openFlv(port, FLV);
    owner.tell('a', 'grace', 'b1');
    const late = await openFlv(port, FLV);
    owner.push(...media('v2'));
    await sees(viewer, 'V1 k1 v2');
    await sees(late, 'V1 k1 v2');
    assert.equal(owner.asked.length, 1);
  });
});

describe('a stream that is not on air', () => {
  test('a stream that is not on air is pulled by its owner for the first viewer, whose log line says so', async (t) => {
    const origin = await startOrigin(t, (_, response) => void response.end('file'));
    const { port, owner, log } = await startLiveEdge(t, { originPorts: [origin.port] });
    owner.answer('/streams/1/live/p/flv', (response) => {
      response.writeHead(200, { 'Causeway-Broadcast': 'p1' });
      response.write(flvHeader({ hasAudio: true, hasVideo: true }));
      owner.flv.add(response);
      owner.push(...media('V1', 'k1'));
    });
    const { response } = await openFlv(port, '/live/p.flv?x=1');
    assert.equal(response.headers['x-cache'], 'MISS liveStream');
    assert.deepEqual(owner.asked, ['/streams/1/live/p/flv?origin=http&host=www.example.com']);
    for (const flv of owner.flv) flv.end();
    await eventually('logged', () => log.length > 0);
    assert.equal(log[0]?.result, 'TCP_MISS/200');
  });

  const rows: readonly (readonly [answered: number, status: number, mark: string])[] = [
    [404, 404, 'ERROR noStream'],
    [502, 502, 'ERROR livePull'],
    [504, 504, 'ERROR livePull'],
    [500, 503, 'ERROR liveUnavailable'],
    [403, 403, 'DENIED paused'],
  ];
  for (const [answered, status, mark] of rows) {
    test(`a stream that is not on air and whose owner answers ${answered} is ${status} to its viewer`, async (t) => {
      const { get, owner } = await startLiveEdge(t, { originPorts: [9] });
      owner.answer('/streams/1/live/p/flv', (response) => void response.writeHead(answered).end());
      const { status: given, headers } = await get('/live/p.flv');
      assert.deepEqual([given, headers['x-cache']], [status, mark]);
    });
  }

  test('a path of a stream is an ordinary file if the origin has one there, and is cached', async (t) => {
    const origin = await startOrigin(t, (_, response) => {
      response.writeHead(200, { 'Cache-Control': 'max-age=60' }).end('a file');
    });
    const { get, owner } = await startLiveEdge(t, { originPorts: [origin.port] });
    owner.answer('/streams/1/live/f/flv', (response) => void response.writeHead(409).end('{"kind":"file"}'));
    for (const cache of ['MISS', 'HIT', 'HIT']) {
      const { status, body, headers } = await get('/live/f.flv');
      assert.deepEqual([status, body, headers['x-cache']], [200, 'a file', cache]);
    }
  });

  test('a stream that is not on air is 404 at once if the domain has no origin', async (t) => {
    const { get, owner } = await startLiveEdge(t);
    assert.equal((await get('/live/p.flv')).status, 404);
    assert.deepEqual(owner.asked, []);
  });
});

test('paths that no stream has are ordinary, and their ready answers end when a stream begins', async (t) => {
  const origin = await startOrigin(t, (_, response) => {
    response.writeHead(200, { 'Cache-Control': 'max-age=60', 'Content-Type': 'text/plain' }).end('ordinary');
  });
  const { get, owner } = await startLiveEdge(t, { originPorts: [origin.port] });
  for (const path of ['/index.html', '/live/a.m3u8', '/live/a/b1/media.m3u8', '/deep/live/a.flv', '/a.flv']) {
    for (let count = 0; count < 3; count++) assert.equal((await get(path)).body, 'ordinary', path);
  }
  assert.deepEqual(owner.asked, []);
  owner.tell('a', 'paused');
  await eventually('refused', async () => (await get('/live/a.m3u8')).status === 403);
  assert.equal((await get('/live/a/b1/media.m3u8')).status, 403);
  assert.equal((await get('/index.html')).body, 'ordinary');
});

test('a forbidden stream is refused without the live process, too, and for other methods', async (t) => {
  const origin = await startOrigin(t, (_, response) => void response.end('ordinary'));
  const mark = { forbidden: true, until: 0, kicked: '' };
  const { get, owner } = await startLiveEdge(t, { originPorts: [origin.port], mark });
  await owner.kill();
  await eventually('noticed', async () => (await get(FLV)).headers['x-cache'] === 'DENIED paused');
  for (const options of [{}, { method: 'POST', body: 'x' }, { body: 'x' }, { method: 'HEAD' }]) {
    assert.equal((await get('/live/a.m3u8', options)).status, 403, JSON.stringify(options));
  }
  assert.deepEqual(origin.requests, []);
});

test('a viewer of HTTP/1.0 is served until the connection ends', async (t) => {
  const { port, get, owner } = await startLiveEdge(t);
  owner.tell('a', 'live', 'b1');
  owner.push(...media('V1', 'k1'));
  await eventually('known', async () => (await get(FLV, { method: 'HEAD' })).status === 200);
  const client = connectRaw(port, `GET ${FLV} HTTP/1.0\r\nHost: ${SITE_HOST}\r\n\r\n`);
  await eventually('begun', () => client.text().includes('\r\n\r\nFLV\x01'));
  assert.doesNotMatch(client.text(), /transfer-encoding/i);
  for (const flv of owner.flv) flv.end();
  await client.closed;
});

test('explain shows how a path of a stream would be answered', async (t) => {
  const { edge, get, owner, put } = await startLiveEdge(t);
  owner.tell('a', 'live', 'b1');
  owner.tell('bad', 'paused');
  await eventually('known', async () => (await get('/live/bad.flv')).status === 403);
  put({ name: SITE_HOST, origins: { ...NO_ORIGINS, primary: loopback([9]) } });
  const explain = async (target: string) => {
    const asked = {
      method: 'GET',
      scheme: 'http',
      host: SITE_HOST,
      target,
      headers: [],
      clientAddress: '192.0.2.1',
    } as const;
    const { steps, xCache } = await edge.explain(asked);
    return [steps.find(({ stage }) => stage === 'live')?.found, xCache];
  };
  assert.deepEqual(await explain(FLV), ['on air, as FLV', 'HIT']);
  assert.deepEqual(await explain('/live/a.m3u8'), ['on air, index.m3u8 of broadcast b1', 'HIT']);
  assert.deepEqual(await explain('/live/a/b0/media.m3u8'), ['no such stream is on air', 'ERROR noStream']);
  assert.deepEqual(await explain('/live/bad.flv'), ['refused: paused', 'DENIED paused']);
  assert.match((await explain('/live/c.flv'))[0] ?? '', /^not on air/);
  assert.deepEqual(await explain('/index.html'), [undefined, 'MISS']);
});

test('HEAD, OPTIONS and Range of a stream are answered', async (t) => {
  const { port, get, owner } = await startLiveEdge(t);
  owner.tell('a', 'live', 'b1');
  owner.push(...media('V1', 'k1'));
  await eventually('known', async () => (await get(FLV, { method: 'HEAD' })).status === 200);
  const head = await get(FLV, { method: 'HEAD' });
  assert.deepEqual([head.headers['content-type'], head.body], ['video/x-flv', '']);
  const preflight = await get(FLV, {
    method: 'OPTIONS',
    headers: ['Origin', 'https://x.example', 'Access-Control-Request-Method', 'GET'],
  });
  assert.deepEqual([preflight.status, preflight.headers['access-control-allow-origin']], [204, '*']);
  const ranged = await openFlv(port, FLV, { range: 'bytes=100-' });
  assert.equal(ranged.response.statusCode, 200);
  await sees(ranged, 'V1 k1');
});

test('viewers end when the live process dies, and the edge serves on and finds it again', async (t) => {
  const origin = await startOrigin(t, (_, response) => void response.end('ordinary'));
  const { port, get, owner } = await startLiveEdge(t, { originPorts: [origin.port] });
  owner.tell('a', 'live', 'b1');
  owner.tell('bad', 'paused');
  owner.push(...media('V1', 'k1'));
  await eventually('known', async () => (await get('/live/bad.flv')).status === 403);
  const viewer = await openFlv(port, FLV);
  await sees(viewer, 'V1 k1');
  await owner.kill();
  await eventually('ended', () => viewer.ended() !== undefined);
  assert.equal((await get('/index.html')).body, 'ordinary');
  await eventually('unavailable', async () => (await get(FLV)).status === 503);
  assert.equal((await get('/live/bad.flv')).status, 403, 'what was forbidden stays so');
  const asked = origin.requests.length;
  for (const path of ['/live/new.flv', '/live/new.m3u8', '/live/new/b1/media.m3u8', '/live/new/b1/0.m4s'])
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await get(path, { method });
      assert.deepEqual([status, headers['retry-after']], [503, '2'], `${method} ${path}`);
    }
  assert.equal(origin.requests.length, asked);
  owner.tell('a', 'live', 'b2');
  owner.tell('bad', 'none');
  await owner.start();
  await eventually('back', async () => (await get(FLV, { method: 'HEAD' })).status === 200);
  assert.equal((await get('/live/new.m3u8')).body, 'ordinary');
  await sees(await openFlv(port, FLV), 'V1 k1');
  owner.answer('/streams/1/live/bad/flv', (response) => void response.writeHead(404).end());
  await eventually('forgotten', async () => (await get('/live/bad.flv')).status === 404);
});

describe('over WebSocket', () => {
  const handshake = `GET ${FLV} HTTP/1.1\r\nHost: ${SITE_HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

  test('a stream over WebSocket arrives in binary messages, pings are answered, and its end is sent', async (t) => {
    const { port, get, owner, log } = await startLiveEdge(t);
    owner.tell('a', 'live', 'b1');
    owner.push(...media('V1', 'k1'));
    await eventually('known', async () => (await get(FLV, { method: 'HEAD' })).status === 200);
    log.length = 0;
    const client = connectRaw(port, handshake);
    await eventually('begun', () => client.text().includes('FLV\x01'));
    assert.match(
      client.text(),
      /^HTTP\/1\.1 101 .*\r\n[\s\S]*Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/i,
    );
    const [, body = ''] = client.text().split('\r\n\r\n');
    assert.deepEqual([body.charCodeAt(0), body.charCodeAt(1), body.slice(2, 5)], [0x82, 13, 'FLV']);
    client.socket.write(Buffer.from([0x89, 0x82, 1, 2, 3, 4, 'h'.charCodeAt(0) ^ 1, 'i'.charCodeAt(0) ^ 2]));
    await eventually('pong', () => client.text().includes('\x8a\x02hi'));
    for (const flv of owner.flv) flv.end();
    assert.ok((await client.closed).endsWith('\x88\x02\x03\xe8'));
    await eventually('logged', () => log.length > 0);
    assert.equal(log[0]?.result, 'TCP_HIT/101');
  });
});
