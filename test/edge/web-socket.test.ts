/** WebSocket through the edge: what passes, and what is answered otherwise. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { createServer as createSecureServer } from 'node:tls';
import { Agent, WebSocket } from 'undici';
import { createAuthority } from '../support/certificates/certificate.ts';
import { connectRaw, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin, startRawOrigin } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { accept, bodyOf, HANDSHAKE, KEY, open, openSockets, startPeer } from '../support/edge/web-socket.ts';
import { eventually } from '../support/eventually.ts';
import { startNginx } from '../support/nginx.ts';
import { needs } from '../support/runner/needs.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;

describe('a WebSocket that is passed through', () => {
  for (const type of ['static', 'download', 'video', 'live', 'dynamic'] as const) {
    test(`a handshake and both directions are passed through, for ${type}`, async (t) => {
      const peer = await startPeer(t, { greeting: 'server first', isHalfOpen: true });
      peer.put({ name: SITE_HOST, type });
      const client = await open(peer);
      await eventually('greeted', () => bodyOf(client) === 'server first');
      client.socket.write('from the client');
      await eventually('heard', () => peer.got[0] === 'from the client');
      client.socket.end();
      await eventually('ended', () => peer.sockets[0]?.readableEnded);
      peer.sockets[0]?.end('last words');
      assert.match(await client.closed, /server firstlast words$/);
    });
  }

  test("the handshake is passed on with the edge's fields, and its answer without hop-by-hop fields", async (t) => {
    const peer = await startPeer(t);
    const extra = `Sec-WebSocket-Protocol: chat\r\nSec-WebSocket-Extensions: permessage-deflate\r\nOrigin: https://x\r\nCookie: a=1\r\nX-Forwarded-For: 6.6.6.6\r\nKeep-Alive: 5\r\n`;
    const client = await open(peer, HANDSHAKE.replace('\r\n\r\n', `\r\n${extra}\r\n`));
    const fields = (peer.heads[0] ?? '').split('\r\n').map((line) => line.toLowerCase());
    assert.equal(fields[0], 'get /chat?room=1 http/1.1');
    for (const line of [
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      `sec-websocket-key: ${KEY.toLowerCase()}`,
      'sec-websocket-protocol: chat',
      'sec-websocket-extensions: permessage-deflate',
      'origin: https://x',
      'cookie: a=1',
      'x-forwarded-for: 127.0.0.1',
      'cdn-loop: causeway',
    ])
      assert.ok(fields.includes(line), line);
    assert.equal(fields.filter((line) => /^(connection|upgrade|keep-alive):/.test(line)).length, 2);
    const head = client.text().toLowerCase();
    for (const line of ['connection: upgrade', 'upgrade: websocket', 'x-cache: bypass websocket', 'via: 1.1 causeway'])
      assert.ok(head.includes(`\r\n${line}\r\n`), line);
    assert.ok(client.text().includes('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n'));
    client.socket.destroy();
  });

  test('an interim response precedes the answer to a handshake', async (t) => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
    const origin = await startRawOrigin(t, (socket, head) => void socket.write(hints + accept(head)));
    const edge = await startTestEdge(t, [origin.port]);
    const client = connectRaw(edge.port, HANDSHAKE);
    await eventually('upgraded', () => client.text().startsWith(`${hints}HTTP/1.1 101 `));
    client.socket.destroy();
  });

  test('a WebSocket to an origin with TLS is passed through', needs('openssl'), async (t) => {
    const server = createSecureServer(createAuthority(t).issue([SITE_HOST]), (socket) => {
      socket.on('error', () => undefined); // shows as closed
      socket.once('data', (chunk) => {
        socket.write(`${accept(chunk.toString('latin1'))}hello`);
        socket.pipe(socket);
      });
    });
    t.after(() => server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const edge = await startTestEdge(t, { protocol: 'https', primary: [{ host: '127.0.0.1', port: port ?? 0 }] });
    const client = await open(edge);
    await eventually('greeted', () => bodyOf(client) === 'hello');
    client.socket.write(Buffer.alloc(1_000_000, ' and back'));
    client.socket.end();
    assert.equal((await client.closed).split('\r\n\r\nhello')[1]?.length, 1_000_000);
    await eventually('logged', () => edge.log.length === 1);
  });

  test('WebSockets may be more than the connections to one origin', async (t) => {
    const peer = await startPeer(t, { greeting: 'hello', limits: { maxOriginConnections: 1 } });
    const clients = [await open(peer), await open(peer), await open(peer)];
    for (const client of clients) {
      await eventually('greeted', () => bodyOf(client) === 'hello');
      client.socket.destroy();
    }
  });

  test('bytes that the client sends with its handshake are passed on', async (t) => {
    const peer = await startPeer(t);
    const client = await open(peer, `${HANDSHAKE}early`);
    client.socket.write(' and late');
    await eventually('heard', () => peer.got[0] === 'early and late');
    client.socket.destroy();
  });

  test('a handshake on a connection that has served before is passed on', async (t) => {
    const peer = await startPeer(t, { greeting: 'hello' });
    const client = connectRaw(peer.port, 'GET / HTTP/1.1\r\nHost: unknown.example\r\n\r\n');
    await eventually('answered', () => client.text().endsWith('unknownHost\n'));
    client.socket.write(HANDSHAKE);
    await eventually('greeted', () => client.text().endsWith('hello'));
    client.socket.destroy();
    await eventually('logged', () => peer.log.length === 2);
    assert.deepEqual(
      peer.log.map((fields) => fields.result),
      ['TCP_DENIED/403', 'TCP_MISS/101'],
    );
  });

  test('many bytes, both ways at once, are passed byte for byte', async (t) => {
    const peer = await startPeer(t);
    const client = await open(peer);
    const [origin] = peer.sockets;
    const up = Buffer.alloc(5_000_000, 'up');
    const down = Buffer.alloc(7_000_000, 'down');
    client.socket.write(up);
    origin?.write(down);
    await eventually('all there', () => peer.got[0]?.length === up.length && bodyOf(client).length === down.length);
    assert.ok(peer.got[0] === up.toString('latin1') && bodyOf(client) === down.toString('latin1'));
    client.socket.destroy();
  });

  test('an end that does not read stops the other, and nothing piles up between them', async (t) => {
    const peer = await startPeer(t);
    const client = await open(peer);
    client.socket.pause();
    const [origin] = peer.sockets;
    assert.ok(origin);
    const all = Buffer.alloc(64 * 1024 * 1024, 'x');
    origin.write(all);
    // What is taken in comes to a stand at what the buffers of the system hold, twice.
    let taken = -1;
    let unchanged = 0;
    await eventually('it stands', () => {
      unchanged = taken === all.length - origin.writableLength ? unchanged + 1 : 0;
      taken = all.length - origin.writableLength;
      return unchanged === 30;
    });
    assert.ok(taken < all.length / 2, String(taken));
    client.socket.resume();
    await eventually('all there', () => bodyOf(client).length === all.length, 30_000);
    client.socket.destroy();
  });

  test(
    "frames of Node's own client are passed through, with nginx as an origin that proxies",
    needs('nginx'),
    async (t) => {
      const frame = Buffer.from([0x81, 5, ...Buffer.from('first')]).toString('latin1');
      const peer = await startPeer(t, { greeting: frame });
      const proxied = `proxy_pass http://127.0.0.1:${peer.originPort}; proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;`;
      const nginx = await startNginx(t, { server: `location /chat { ${proxied} }` });
      const edge = await startTestEdge(t, [nginx.port]);
      const dispatcher = new Agent({
        connect: (_options, callback) => {
          const connection = connect(edge.port, '127.0.0.1', () => callback(null, connection));
        },
      });
      const socket = new WebSocket(`ws://${SITE_HOST}/chat`, { dispatcher });
      const messages: unknown[] = [];
      socket.addEventListener('error', ({ error }) => messages.push(error));
      socket.addEventListener('message', ({ data }) => messages.push(data));
      await eventually('the server speaks first', () => messages.length > 0);
      assert.equal(messages[0], 'first');
      socket.send('second');
      await eventually('heard', () => peer.got[0]?.length === 6 + 'second'.length);
      peer.sockets[0]?.write(Buffer.from([0x81, 5, ...Buffer.from('third')]));
      await eventually('told', () => messages[1] === 'third');
      peer.sockets[0]?.end(Buffer.from([0x88, 2, 0x03, 0xe9])); // 1001, going away
      await once(socket, 'close');
      await eventually('logged', () => edge.log[0]?.result === 'TCP_MISS/101');
    },
  );
});

describe('a handshake that is not accepted', () => {
  test('404 and 426 of the origin are answered with their body, and the connections end', async (t) => {
    for (const status of [200, 404, 426]) {
      const origin = await startRawOrigin(t, (socket) => {
        socket.write(`HTTP/1.1 ${status} X\r\nContent-Length: 5\r\nSec-WebSocket-Version: 13\r\n\r\nsorry`);
      });
      const edge = await startTestEdge(t, [origin.port]);
      const text = await connectRaw(edge.port, HANDSHAKE).closed;
      assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} X\r\n`));
      assert.match(text, /\r\nConnection: close\r\n/i);
      assert.match(text, /\r\nX-Cache: BYPASS websocket\r\n[\s\S]*\r\n\r\nsorry$/i);
      assert.equal(edge.log[0]?.result, `TCP_MISS/${status}`);
      assert.equal(await openSockets(edge), 0);
    }
  });

  test('a large body of a refused handshake is sent to a slow client', async (t) => {
    const body = Buffer.alloc(8 * 1024 * 1024, 'b');
    const { edge, origin } = await startSite(t, reply(body, {}, 404));
    const client = connectRaw(edge.port, HANDSHAKE);
    client.socket.pause();
    await eventually('asked', () => origin.requests.length === 1);
    client.socket.resume();
    assert.equal((await client.closed).split('\r\n\r\n')[1]?.length, body.length);
  });

  test('a 502 to a handshake is answered after the next origin gave the same', async (t) => {
    const bad = await startOrigin(t, reply('bad', {}, 502));
    const good = await startRawOrigin(t, (socket, head) => void socket.write(`${accept(head)}hello`));
    const edge = await startTestEdge(t, [bad.port, good.port]);
    const client = await open(edge);
    await eventually('greeted', () => bodyOf(client) === 'hello');
    assert.equal(bad.requests.length, 1);
    client.socket.destroy();
  });

  test('a handshake to an origin that is unreachable, breaks off or is forbidden is answered with the reason', async (t) => {
    const reset = await startRawOrigin(t, (socket) => socket.resetAndDestroy());
    const edge = await startTestEdge(t, [1]);
    assert.match(await connectRaw(edge.port, HANDSHAKE).closed, /^HTTP\/1\.1 502 [\s\S]*ERROR originConnect/);
    edge.put({ name: SITE_HOST, origins: siteOf(reset.port) });
    assert.match(await connectRaw(edge.port, HANDSHAKE).closed, /^HTTP\/1\.1 502 [\s\S]*ERROR originReset/);
    edge.put({ name: SITE_HOST, origins: { ...siteOf(80), primary: [{ host: '10.0.0.1', port: 80 }] } });
    assert.match(await connectRaw(edge.port, HANDSHAKE).closed, /^HTTP\/1\.1 502 [\s\S]*ERROR originForbidden/);
    assert.equal(await openSockets(edge), 0);
  });

  test('a handshake for a closed domain or an unknown host is answered without contact to an origin', async (t) => {
    const peer = await startPeer(t);
    peer.put({ name: SITE_HOST, state: 'closed' });
    assert.match(await connectRaw(peer.port, HANDSHAKE).closed, /^HTTP\/1\.1 403 [\s\S]*DENIED closed/);
    const unknown = HANDSHAKE.replace(SITE_HOST, 'unknown.example');
    assert.match(await connectRaw(peer.port, unknown).closed, /^HTTP\/1\.1 403 [\s\S]*DENIED unknownHost/);
    const twice = HANDSHAKE.replace(HOST, HOST + HOST);
    assert.match(await connectRaw(peer.port, twice).closed, /^HTTP\/1\.1 400 [\s\S]*ERROR host/);
    assert.equal(peer.heads.length, 0);
  });

  test('a handshake of a client that the access rules refuse is answered by the rules', async (t) => {
    const peer = await startPeer(t);
    peer.put({ name: SITE_HOST, access: { deniedUserAgents: ['bad'] } });
    const bad = HANDSHAKE.replace('\r\n\r\n', '\r\nUser-Agent: a bad one\r\n\r\n');
    assert.match(await connectRaw(peer.port, bad).closed, /^HTTP\/1\.1 403 [\s\S]*DENIED userAgent/);
    assert.equal(peer.heads.length, 0);
    const client = await open(peer);
    client.socket.destroy();
  });

  test('a WebSocket beyond the limit is 503, until one ends', async (t) => {
    const peer = await startPeer(t, { limits: { maxWebSockets: 1 } });
    const first = await open(peer);
    assert.equal(await openSockets(peer), 1);
    assert.match(await connectRaw(peer.port, HANDSHAKE).closed, /^HTTP\/1\.1 503 [\s\S]*ERROR tooManyWebSockets/);
    first.socket.destroy();
    await eventually('free', async () => (await openSockets(peer)) === 0);
    const second = await open(peer);
    second.socket.destroy();
  });
});

function siteOf(port: number) {
  return {
    protocol: 'http',
    primary: [{ host: '127.0.0.1', port }],
    backup: [],
    hostHeader: '',
    probePath: '',
  } as const;
}
