/** Draining an edge: its clients lose no request, and each connection ends when its client knows. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { connect as connectOver } from 'node:tls';
import { connectRaw, fetchFrom, SITE_HOST } from '../support/edge/edge.ts';
import { connectFrames, FLAGS, fields, frame } from '../support/edge/http2-frames.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { reply } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { bodyOf, open, startPeer } from '../support/edge/web-socket.ts';
import { eventually } from '../support/eventually.ts';
import { media, openFlv, sees, startLiveEdge } from '../support/live/live-edge.ts';
import { needs } from '../support/runner/needs.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;
const ASK = `GET / HTTP/1.1\r\n${HOST}\r\n`;
/** A request that is left to node:http. */
const ASK_NODE = `POST / HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`;
const LONG = { idleMs: 600_000, limitMs: 600_000 };
const CACHED = reply('x', { 'cache-control': 'max-age=600' });

describe('draining over HTTP/1.1', () => {
  const kinds = [
    ['of our own reader', ASK],
    ['of node:http', ASK_NODE],
  ] as const;
  for (const [kind, ask] of kinds)
    test(`an idle connection ${kind} is kept, and its next answer announces its end`, async (t) => {
      const { edge } = await startSite(t, CACHED);
      const client = connectRaw(edge.port, ask);
      await eventually('answered', () => client.text().endsWith('x'));
      assert.match(client.text(), /\r\nConnection: keep-alive\r\n/i);
      const drained = edge.edge.drain(LONG);
      await assert.rejects(fetchFrom(edge.port, '/'), { code: 'ECONNREFUSED' });
      client.socket.write(ask);
      assert.match(await client.closed, /^HTTP\/1.1 200 [\s\S]*\r\nConnection: close\r\n[\s\S]*x$/i);
      assert.equal((await client.closed).match(/HTTP\/1.1 200/g)?.length, 2);
      await drained;
    });

  test('an answer that has promised to keep the connection keeps it for the next request', async (t) => {
    let finish = () => {};
    const { edge } = await startSite(t, (_request, response) => {
      response.writeHead(200, { 'content-length': '4' }).write('be');
      finish = () => void response.end('en');
    });
    const client = connectRaw(edge.port, ASK);
    await eventually('begun', () => client.text().endsWith('be'));
    const drained = edge.edge.drain(LONG);
    finish();
    await eventually('finished', () => client.text().endsWith('been'));
    client.socket.write(ASK);
    await eventually('begun again', () => client.text().match(/HTTP\/1.1 200/g)?.length === 2);
    finish();
    assert.match(await client.closed, /Connection: close[\s\S]*been$/i);
    await drained;
  });

  for (const [kind, ask] of kinds)
    test(`an idle connection ${kind} ends after its time`, async (t) => {
      const { edge } = await startSite(t, CACHED, { limits: { requestHeaderMs: 400 } });
      const client = connectRaw(edge.port, ask);
      await eventually('answered', () => client.text().endsWith('x'));
      const drained = edge.edge.drain({ idleMs: 200, limitMs: 600_000 });
      await client.closed;
      await drained;
    });

  test('a long answer is cut at the limit, and logged', async (t) => {
    const { edge } = await startSite(t, (_request, response) => {
      response.writeHead(200, { 'content-length': '4' }).write('be');
    });
    const client = connectRaw(edge.port, ASK);
    await eventually('begun', () => client.text().endsWith('be'));
    await edge.edge.drain({ idleMs: 50, limitMs: 200 });
    await client.closed;
    await eventually('logged', () => edge.log.some(({ result }) => result.endsWith('/503')));
  });

  test('a fetch that viewers share goes on until the last of them has it', async (t) => {
    const held: ServerResponse[] = [];
    const { edge, origin } = await startSite(t, (_request, response) => void held.push(response));
    const clients = [connectRaw(edge.port, ASK), connectRaw(edge.port, ASK)] as const;
    await eventually('both wait for one fetch', () => edge.edge.underWay === 2 && held.length === 1);
    const drained = edge.edge.drain(LONG);
    clients[0].socket.destroy();
    await clients[0].closed;
    held[0]?.writeHead(200, { 'content-length': '4', 'cache-control': 'max-age=600' }).end('been');
    assert.match(await clients[1].closed, /^HTTP\/1.1 200 [\s\S]*Connection: close[\s\S]*been$/i);
    await drained;
    assert.equal(origin.requests.length, 1);
  });

  test('an edge that drains can be closed', async (t) => {
    const { edge } = await startSite(t, () => undefined);
    const client = connectRaw(edge.port, ASK);
    const idle = connectRaw(edge.port, '');
    await once(idle.socket, 'connect');
    await eventually('asked', () => edge.edge.underWay === 1);
    const drained = edge.edge.drain(LONG);
    await edge.edge.close(100);
    await Promise.all([drained, client.closed, idle.closed]);
  });
});

describe('draining over TLS', needs('openssl'), () => {
  const request = (stream: number) =>
    frame(
      'headers',
      FLAGS.endHeaders | FLAGS.endStream,
      stream,
      fields([':method', 'GET'], [':scheme', 'https'], [':authority', SITE_HOST], [':path', '/']),
    );
  const lastIds = (frames: readonly { readonly type: string; readonly payload: Buffer }[]) =>
    frames.filter(({ type }) => type === 'goaway').map(({ payload }) => payload.readUInt32BE(0));

  test('a connection over HTTP/2 gets two GOAWAY frames, and requests sent before the second are answered', async (t) => {
    let finish = () => {};
    const edge = await startHttpsEdge(t, (_request, response) => {
      finish = () => void response.end('late');
    });
    const client = await connectFrames(edge.httpsPort, SITE_HOST);
    await client.send(request(1));
    await eventually('asked', () => edge.origin.requests.length === 1);
    const drained = edge.edge.drain(LONG);
    await eventually('announced', () => lastIds(client.frames).length === 1);
    assert.deepEqual(lastIds(client.frames), [2 ** 31 - 1]);
    const first = finish;
    edge.origin.answer(reply('second'));
    await client.send(request(3));
    await eventually('answered', () => client.frames.some(({ type, stream }) => type === 'data' && stream === 3));
    await eventually('refused from now on', () => lastIds(client.frames).length === 2);
    assert.deepEqual(lastIds(client.frames), [2 ** 31 - 1, 3]);
    assert.equal(client.isClosed, false);
    first();
    await client.closed;
    assert.equal(client.goaway, 0);
    assert.ok(client.frames.some(({ stream, payload }) => stream === 1 && payload.toString() === 'late'));
    assert.deepEqual(client.resets, []);
    await drained;
  });

  test('a handshake that has begun is finished, and its first answer announces the end', async (t) => {
    const edge = await startHttpsEdge(t, CACHED);
    const socket = connect(edge.httpsPort, '127.0.0.1');
    let accepted = 0;
    const count = () => void accepted++;
    subscribe('net.server.socket', count);
    t.after(() => unsubscribe('net.server.socket', count));
    await eventually('accepted', () => accepted === 1);
    const drained = edge.edge.drain(LONG);
    const client = connectOver({ socket, servername: SITE_HOST, ca: edge.authority.ca, ALPNProtocols: ['http/1.1'] });
    await once(client, 'secureConnect');
    let text = '';
    client.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    client.write(ASK);
    await once(client, 'close');
    assert.match(text, /^HTTP\/1.1 200 [\s\S]*Connection: close/i);
    await drained;
  });
});

describe('draining of connections that last', () => {
  test('a WebSocket goes on, and ends at the limit', async (t: TestContext) => {
    const peer = await startPeer(t, { greeting: 'hello' });
    const client = await open(peer);
    await eventually('greeted', () => bodyOf(client) === 'hello');
    const drained = peer.edge.drain({ idleMs: 10, limitMs: 1_000 });
    client.socket.write('still there');
    await eventually('heard', () => peer.got[0] === 'still there');
    await client.closed;
    await drained;
  });

  test('both ends of a WebSocket get a close frame at the limit, unless they are in the middle of another', async (t) => {
    const peer = await startPeer(t, { greeting: '\x81\x02hi' });
    const [whole, within] = [await open(peer), await open(peer)];
    await eventually('greeted', () => [whole, within].every((client) => bodyOf(client) === '\x81\x02hi'));
    within.socket.write(Buffer.from([0x81, 0x85, 0, 0, 0, 0])); // its payload does not follow
    await eventually('relayed', () => peer.got.some((got) => got.length === 6));
    await peer.edge.drain({ idleMs: 10, limitMs: 100 });
    await Promise.all([whole.closed, within.closed]);
    for (const client of [whole, within]) assert.equal(bodyOf(client), '\x81\x02hi\x88\x02\x03\xe9');
    assert.deepEqual(peer.got.map((got) => got.slice(-8)).toSorted(), ['\x81\x85\0\0\0\0', '\x88\x82\0\0\0\0\x03\xe9']);
  });

  test('a viewer of a live stream watches on', async (t) => {
    const edge = await startLiveEdge(t);
    edge.owner.tell('a', 'live', 'b1');
    edge.owner.push(...media('V1', 'k1'));
    await eventually('known', async () => (await edge.get('/live/a.flv', { method: 'HEAD' })).status === 200);
    const viewer = await openFlv(edge.port, '/live/a.flv');
    await sees(viewer, 'V1 k1');
    const drained = edge.edge.drain(LONG);
    edge.owner.push(...media('v2'));
    await sees(viewer, 'V1 k1 v2');
    for (const flv of edge.owner.flv) flv.end();
    await drained;
  });
});
