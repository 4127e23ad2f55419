/** Whose requests are, behind proxies: what trusted ones say is believed, in fields and by the PROXY protocol, and nobody else. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { connectRaw, SITE_HOST } from '../support/edge/edge.ts';
import { reply } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';
import { needs, obtain } from '../support/runner/needs.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;
const GET = `GET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
const LOOPBACK = ['127.0.0.0/8', '::1'];
const SIGNATURE = '0d0a0d0a000d0a515549540a';
const V2 = Buffer.from(`${SIGNATURE}2111000cc0000201c6336402d90301bb`, 'hex').toString('latin1');
const LOCAL = Buffer.from(`${SIGNATURE}20000000`, 'hex').toString('latin1');

async function start(t: TestContext, trusted: readonly string[], protocol: 'off' | 'required', limits = {}) {
  const { edge, origin } = await startSite(
    t,
    (request, response) => {
      const { headers } = request;
      reply([headers['x-forwarded-for'], headers['x-real-ip'], headers['x-forwarded-proto']].join(' '))(
        request,
        response,
      );
    },
    { proxies: { trusted, protocol }, limits },
  );
  const failures = async () =>
    [...(await edge.registry.metrics()).matchAll(/proxy_header_failures_total\{reason="(\w+)"\} (\d+)/g)].map(
      ([, reason, count]) => `${reason} ${count}`,
    );
  return { ...edge, origin, failures };
}

describe('fields of a request from a proxy', () => {
  const rows: readonly (readonly [
    what: string,
    trusted: readonly string[],
    headers: readonly string[],
    expected: string,
  ])[] = [
    ['no proxy is trusted', [], ['X-Forwarded-For', '192.0.2.1', 'X-Forwarded-Proto', 'https'], '127.0.0.1 http'],
    ['another proxy is trusted', ['10.0.0.0/8'], ['X-Forwarded-For', '192.0.2.1'], '127.0.0.1 http'],
    ['no field', LOOPBACK, [], '127.0.0.1 http'],
    ['one address', LOOPBACK, ['X-Forwarded-For', '192.0.2.1'], '192.0.2.1 http'],
    [
      'the last untrusted address, whatever a client wrote before it',
      [...LOOPBACK, '10.0.0.0/8'],
      ['X-Forwarded-For', '6.6.6.6, 10.0.0.9', 'X-Forwarded-For', '2001:DB8::1, 10.0.0.1'],
      '2001:db8::1 http',
    ],
    ['no address', LOOPBACK, ['X-Forwarded-For', 'unknown'], '127.0.0.1 http'],
    ['underscores', LOOPBACK, ['X_Forwarded_For', '192.0.2.1', 'X_Forwarded_Proto', 'https'], '127.0.0.1 http'],
    ['TLS', LOOPBACK, ['X-Forwarded-Proto', 'https'], '127.0.0.1 https'],
    ['TLS twice', LOOPBACK, ['X-Forwarded-Proto', 'https, HTTPS'], '127.0.0.1 https'],
    ['TLS and plain HTTP', LOOPBACK, ['X-Forwarded-Proto', 'https, http'], '127.0.0.1 http'],
    ['Forwarded is not read', LOOPBACK, ['Forwarded', 'for=192.0.2.1;proto=https'], '127.0.0.1 http'],
  ];
  for (const [what, trusted, headers, expected] of rows) {
    test(`address and scheme of the client: ${what}`, async (t) => {
      const edge = await start(t, trusted, 'off');
      const { body } = await edge.get('/', { headers });
      const [address, scheme] = expected.split(' ');
      assert.equal(body, `${address} ${address} ${scheme}`);
      await eventually('logged', () => edge.log[0]?.client === address);
    });
  }

  test("a scheme that is followed is the client's before the proxy", async (t) => {
    const edge = await start(t, LOOPBACK, 'off');
    edge.put({
      name: SITE_HOST,
      origins: {
        protocol: 'follow',
        primary: [{ host: '127.0.0.1', port: edge.origin.port }],
        backup: [],
        hostHeader: '',
        probePath: '',
      },
    });
    assert.equal((await edge.get('/')).status, 200);
    const overTls = await edge.get('/', { headers: ['X-Forwarded-Proto', 'https'] });
    assert.equal(overTls.headers['x-cache'], 'ERROR originTls'); // the origin of this test speaks none
    const absolute = `GET https://${SITE_HOST}/ HTTP/1.1\r\n${HOST}X-Forwarded-Proto: https\r\nConnection: close\r\n\r\n`;
    assert.match(await connectRaw(edge.port, absolute).closed, /ERROR originTls/);
  });

  test('access rules use the address that the proxy names, and none that the client wrote before it', async (t) => {
    const edge = await start(t, LOOPBACK, 'off');
    edge.put({ name: SITE_HOST, access: { deniedAddresses: ['192.0.2.0/24'] } });
    const rows: readonly (readonly [forwardedFor: string, xCache: string])[] = [
      ['192.0.2.1', 'DENIED ip'],
      ['198.51.100.1', 'MISS noReuse'],
      ['198.51.100.1, 192.0.2.1', 'DENIED ip'],
      ['192.0.2.1, 198.51.100.1', 'MISS noReuse'],
    ];
    for (const [forwardedFor, xCache] of rows) {
      const { headers } = await edge.get('/', { headers: ['X-Forwarded-For', forwardedFor] });
      assert.equal(headers['x-cache'], xCache, forwardedFor);
    }
  });

  test('a WebSocket has the address that the proxy names', async (t) => {
    const edge = await start(t, LOOPBACK, 'off');
    const fields = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\nX-Forwarded-For: 192.0.2.1\r\n`;
    const text = await connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}${fields}\r\n`).closed;
    assert.match(text, /192\.0\.2\.1 192\.0\.2\.1 http$/);
    await eventually('logged', () => edge.log[0]?.client === '192.0.2.1');
  });
});

describe('the PROXY protocol', () => {
  test('the address of a PROXY header counts for every request of the connection, even an invalid one', async (t) => {
    const edge = await start(t, LOOPBACK, 'required');
    const first = `GET /1 HTTP/1.1\r\n${HOST}\r\n`;
    const text = await connectRaw(edge.port, `${V2}${first}${first}bad\r\n\r\n`).closed;
    assert.equal(text.match(/192\.0\.2\.1 192\.0\.2\.1 http/g)?.length, 2);
    assert.match(text, /HTTP\/1\.1 400 /);
    await eventually('logged', () => edge.log.length === 3);
    assert.deepEqual(new Set(edge.log.map(({ client }) => client)), new Set(['192.0.2.1']));
  });

  test('a PROXY header may arrive in any pieces, with the request or before it', async (t) => {
    const edge = await start(t, LOOPBACK, 'required');
    const bytes = Buffer.from(V2 + GET, 'latin1');
    for (let at = 1; at < V2.length + 20; at++) {
      const client = connectRaw(edge.port);
      client.socket.setNoDelay(true);
      client.socket.write(bytes.subarray(0, at));
      await new Promise((resolve) => setImmediate(resolve));
      client.socket.write(bytes.subarray(at));
      assert.match(await client.closed, /^HTTP\/1\.1 200 [\s\S]*192\.0\.2\.1 192\.0\.2\.1 http$/, `at ${at}`);
    }
    const slow = connectRaw(edge.port);
    slow.socket.setNoDelay(true);
    for (const byte of bytes) {
      slow.socket.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.match(await slow.closed, /192\.0\.2\.1 http$/);
  });

  test('a body behind a PROXY header arrives whole', async (t) => {
    const edge = await start(t, LOOPBACK, 'required');
    const body = 'b'.repeat(1_000_000);
    const post = `POST / HTTP/1.1\r\n${HOST}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    assert.match(await connectRaw(edge.port, V2 + post).closed, /^HTTP\/1\.1 200 /);
    assert.equal(edge.origin.requests[0]?.body, body);
  });

  test('the fields of a connection with a PROXY header are trusted only if the address that it names is, too', async (t) => {
    const claim = GET.replace('\r\n\r\n', '\r\nX-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Proto: https\r\n\r\n');
    const only = await start(t, LOOPBACK, 'required');
    assert.match(await connectRaw(only.port, V2 + claim).closed, /192\.0\.2\.1 192\.0\.2\.1 http$/);
    const both = await start(t, [...LOOPBACK, '192.0.2.0/24'], 'required');
    assert.match(await connectRaw(both.port, V2 + claim).closed, /6\.6\.6\.6 6\.6\.6\.6 https$/);
  });

  test('a balancer that speaks for itself is the client', async (t) => {
    const edge = await start(t, LOOPBACK, 'required');
    assert.match(await connectRaw(edge.port, LOCAL + GET).closed, /127\.0\.0\.1 127\.0\.0\.1 http$/);
  });

  test('a trusted proxy that sends something else, or nothing in time, is cut off without an answer', async (t) => {
    const edge = await start(t, LOOPBACK, 'required', { proxyHeaderMs: 500 });
    for (const bytes of [GET, `${V2.slice(0, 12)}\x31${V2.slice(13)}${GET}`])
      assert.equal(await connectRaw(edge.port, bytes).closed, '');
    assert.deepEqual(await edge.failures(), ['malformed 2']);
    assert.equal(await connectRaw(edge.port, V2.slice(0, 20)).closed, '');
    assert.equal(await connectRaw(edge.port).closed, '');
    assert.deepEqual(await edge.failures(), ['malformed 2', 'timeout 2']);
    assert.deepEqual([edge.log.length, edge.origin.requests.length], [0, 0]);
  });

  test('a connection that leaves before its PROXY header is complete is not a failure', async (t) => {
    const edge = await start(t, LOOPBACK, 'required');
    const halves = [connectRaw(edge.port, V2.slice(0, 20)), connectRaw(edge.port, V2.slice(0, 20))];
    await eventually('connected', () => halves.every(({ socket }) => socket.bytesWritten === 20));
    halves[0]?.socket.end();
    halves[1]?.socket.resetAndDestroy();
    await Promise.all(halves.map(({ closed }) => closed));
    assert.match(await connectRaw(edge.port, V2 + GET).closed, /^HTTP\/1\.1 200 /);
    assert.deepEqual(await edge.failures(), []);
  });

  test('a connection that says nothing after its PROXY header is closed silently, as without one', async (t) => {
    const edge = await start(t, LOOPBACK, 'required', { requestHeaderMs: 500 });
    assert.equal(await connectRaw(edge.port, V2).closed, '');
    assert.match(await connectRaw(edge.port, `${V2}GET`).closed, /^HTTP\/1\.1 408 /);
    await eventually('logged', () => edge.log.length === 1);
  });

  test('connections that are reset at once, as by some health checks, leave no log line', async (t) => {
    const edge = await start(t, LOOPBACK, 'required');
    for (let i = 0; i < 50; i++) {
      const { socket, closed } = connectRaw(edge.port);
      socket.once('connect', () => {
        socket.write(LOCAL, 'latin1');
        socket.resetAndDestroy();
      });
      await closed;
    }
    assert.match(await connectRaw(edge.port, LOCAL + GET).closed, /^HTTP\/1\.1 200 /);
    await eventually('logged', () => edge.log.length > 0);
    assert.deepEqual([edge.log.length, await edge.failures()], [1, []]);
  });

  test('a PROXY header from anybody else is an error, and a request without one is served', async (t) => {
    const edge = await start(t, ['10.0.0.0/8'], 'required');
    assert.match(await connectRaw(edge.port, V2 + GET).closed, /^HTTP\/1\.1 400 [\s\S]*ERROR malformed/);
    assert.match(await connectRaw(edge.port, `PROXY UNKNOWN\r\n${GET}`).closed, /^HTTP\/1\.1 400 [\s\S]*ERROR/);
    assert.match(await connectRaw(edge.port, GET).closed, /127\.0\.0\.1 127\.0\.0\.1 http$/);
    const off = await start(t, LOOPBACK, 'off');
    assert.match(await connectRaw(off.port, V2 + GET).closed, /^HTTP\/1\.1 400 /);
  });

  test('a connection that waits for its PROXY header does not delay the end of the edge', async (t) => {
    const edge = await start(t, LOOPBACK, 'required');
    const client = connectRaw(edge.port, V2.slice(0, 20));
    await eventually('connected', () => client.socket.bytesWritten === 20);
    await edge.edge.close(60_000);
    assert.equal(await client.closed, '');
  });

  test('a PROXY header of curl is understood', needs('curl'), async (t) => {
    const edge = await start(t, LOOPBACK, 'required');
    const run = promisify(execFile);
    const target = [`http://127.0.0.1:${edge.port}/`, '-H', `Host: ${SITE_HOST}`];
    const { stdout } = await run(obtain('curl'), ['-s', '--haproxy-protocol', ...target]);
    assert.equal(stdout, '127.0.0.1 127.0.0.1 http');
  });
});
