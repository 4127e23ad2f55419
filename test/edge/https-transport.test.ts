/** What HTTPS is carried by: both families of addresses, the PROXY protocol, WebSocket, pipelined and broken requests over TLS. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { describe, test } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { SITE_HOST } from '../support/edge/edge.ts';
import { type HttpsEdge, startHttpsEdge } from '../support/edge/https-edge.ts';
import { startRawOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const NEEDS = needs('openssl');
const HEAD = `Host: ${SITE_HOST}\r\n`;
const V2 = Buffer.from('0d0a0d0a000d0a515549540a2111000cc0000201c6336402d90301bb', 'hex');

async function open(edge: HttpsEdge, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const to = options.socket === undefined ? { port: edge.httpsPort, host: '127.0.0.1' } : {};
  const socket = connect({ ...to, servername: SITE_HOST, ca: edge.authority.ca, ...options });
  socket.on('error', () => undefined); // shows as closed
  await once(socket, 'secureConnect');
  return socket;
}

async function readAll(socket: TLSSocket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

describe('TLS connections', NEEDS, () => {
  test('TLS is served over IPv6 and IPv4 alike', needs('ipv6'), async (t) => {
    const certificates = new Map();
    const edge = await startHttpsEdge(t, undefined, {
      https: {
        listen: { host: '::', port: 0 },
        certificates: { getCertificate: (key) => certificates.get(key) },
        ticketSecrets: [{ createdAt: 0, secret: 'ab'.repeat(32) }],
      },
    });
    for (const [key, pair] of edge.certificates) certificates.set(key, pair);
    for (const host of ['::1', '127.0.0.1']) {
      const socket = await open(edge, { host });
      socket.write(`GET / HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
      assert.match(await readAll(socket), /^HTTP\/1\.1 200 /);
    }
    await eventually('logged', () => edge.log.length === 2);
    assert.deepEqual(
      edge.log.map(({ client }) => client),
      ['::1', '127.0.0.1'],
    );
  });

  test('the PROXY header precedes TLS, and its address is the client of every request', async (t) => {
    const proxies = { trusted: ['127.0.0.1'], protocol: 'required' } as const;
    const edge = await startHttpsEdge(t, undefined, { proxies });
    for (const protocol of ['http/1.1', 'h2']) {
      const raw = connectTcp({ port: edge.httpsPort, host: '127.0.0.1' });
      raw.write(V2);
      const socket = await open(edge, { socket: raw, ALPNProtocols: [protocol] });
      assert.equal(socket.alpnProtocol, protocol);
      if (protocol === 'http/1.1') {
        socket.write(`GET / HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
        assert.match(await readAll(socket), /^HTTP\/1\.1 200 /);
      }
      socket.destroy();
    }
    assert.equal(edge.origin.requests[0]?.headers['x-forwarded-for'], '192.0.2.1');
    const without = connectTcp({ port: edge.httpsPort, host: '127.0.0.1' });
    without.on('error', () => undefined);
    without.write(Buffer.from([22, 3, 1, 0, 100]));
    await once(without, 'close');
  });
});

describe('HTTP/1.1 over TLS', NEEDS, () => {
  test('HTTP/1.1 over TLS serves requests in a row, refuses invalid ones, and ends after a broken answer', async (t) => {
    const edge = await startHttpsEdge(t);
    const socket = await open(edge);
    socket.write(`GET /1 HTTP/1.1\r\n${HEAD}\r\nGET /2 HTTP/1.1\r\n${HEAD}\r\nnonsense\r\n\r\n`);
    const text = await readAll(socket);
    assert.equal(text.match(/HTTP\/1\.1 200 /g)?.length, 2);
    assert.match(text, /HTTP\/1\.1 400 Bad Request[\s\S]*ERROR malformed/);
    edge.origin.answer((_request, response) => {
      response.writeHead(200);
      response.write('x'.repeat(100_000), () => response.destroy());
    });
    // To HTTP/1.0 only the connection's end says that the body is whole.
    const old = await open(edge);
    let ended = false;
    old.on('end', () => {
      ended = true;
    });
    old.resume();
    old.write(`GET /cut HTTP/1.0\r\n${HEAD}\r\n`);
    await new Promise((resolve) => old.once('close', resolve));
    assert.equal(ended, false);
    await eventually('logged', () => edge.log.some((fields) => fields.result === 'TCP_MISS/502'));
  });

  test('a WebSocket over TLS is passed through', async (t) => {
    const origin = await startRawOrigin(t, (socket) => {
      socket.write(
        'HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
      );
      socket.on('data', (chunk) => socket.write(`echo ${chunk}`));
    });
    const edge = await startHttpsEdge(t);
    edge.putTls(
      SITE_HOST,
      {},
      {
        origins: {
          protocol: 'http',
          primary: [{ host: '127.0.0.1', port: origin.port }],
          backup: [],
          hostHeader: '',
          probePath: '',
        },
      },
    );
    const socket = await open(edge);
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
    socket.write(`GET / HTTP/1.1\r\n${HEAD}Upgrade: websocket\r\nConnection: Upgrade\r\n${key}\r\n`);
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    await eventually('it is open', () => /^HTTP\/1\.1 101 /.test(text));
    socket.write('hello');
    await eventually('it goes both ways', () => text.endsWith('echo hello'));
    socket.end();
    await eventually('logged', () => edge.log[0]?.result?.endsWith('/101'));
  });
});
