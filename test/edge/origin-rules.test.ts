/** Edge rule 2 over sockets: which origin is asked next after which failure, and at which of a name's addresses. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createResolver } from '../../src/edge/origin/resolve.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { startDns } from '../support/edge/dns.ts';
import { connectRaw, loopback, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { type Answer, reply, startOrigin, startRawOrigin } from '../support/edge/origin.ts';
import { act, client, gets, miss, pass, scenario } from '../support/edge/scenario.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/runner/needs.ts';

type Cleanup = Parameters<typeof startOrigin>[0];

const LIMITS = { connectMs: 300, firstByteMs: 300 };

describe('after a failure of an origin', () => {
  /** `isSent`: the origin may have seen the request, so only what may be repeated goes on to the next. */
  type Row = readonly [
    what: string,
    startBad: (t: Cleanup) => Promise<{ host?: string; port: number }>,
    isSent: boolean,
  ];
  const rows: readonly Row[] = [
    ['a name without an address', async () => ({ host: 'gone.example', port: 80 }), false],
    ['a forbidden address', async () => ({ host: '10.0.0.1', port: 80 }), false],
    ['a refused connection', async () => ({ port: await freePort() }), false],
    ['a closed connection', (t) => startRawOrigin(t, (socket) => void socket.destroy()), true],
    ['an answer that is no HTTP', (t) => startRawOrigin(t, (socket) => void socket.end('SSH-2.0-x\r\n')), true],
    ['half a head', (t) => startRawOrigin(t, (socket) => void socket.end('HTTP/1.1 200 OK\r\nA: b')), true],
    ['no first byte in time', (t) => startRawOrigin(t, () => undefined), true],
  ];
  for (const [what, startBad, isSent] of rows) {
    test(`${what}: the next origin answers repeatable requests${isSent ? '' : ', and unsent ones'}`, async (t) => {
      const { host = '127.0.0.1', port } = await startBad(t);
      const good = await startOrigin(t, reply('good'));
      const origins = { primary: [{ host, port }], backup: loopback([good.port]) };
      const resolve = () => Promise.reject(new Error('no such name'));
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH']) {
        const limits = what === 'no first byte in time' ? LIMITS : {};
        const edge = await startTestEdge(t, origins, { limits, resolve });
        const isRepeatable = ['GET', 'HEAD', 'OPTIONS'].includes(method);
        const { status } = await edge.get('/', { method, ...(isRepeatable ? {} : { body: 'data' }) });
        assert.equal(status === 200, isRepeatable || !isSent, method);
      }
      assert.equal(good.requests.length, isSent ? 3 : 7);
      assert.ok(good.requests.every(({ method, body }) => body === '' || !['GET', 'HEAD', 'OPTIONS'].includes(method)));
    });
  }

  test('a failed TLS handshake makes the edge ask the next origin, also with a body', needs('openssl'), async (t) => {
    const authority = createAuthority(t);
    const plain = await startRawOrigin(t, (socket) => void socket.end('no TLS'));
    const good = await startOrigin(t, reply('good'), { tls: authority.issue([SITE_HOST]) });
    const origins = { protocol: 'https', primary: loopback([plain.port]), backup: loopback([good.port]) } as const;
    const edge = await startTestEdge(t, origins);
    assert.equal((await edge.get('/')).body, 'good');
    assert.equal((await edge.get('/', { method: 'POST', body: 'data' })).body, 'good');
    assert.equal(good.requests[1]?.body, 'data');
  });

  test('a GET is repeated with its body, which is kept until an origin has answered', async (t) => {
    const bad = await startOrigin(t, reply('bad', {}, 503));
    const good = await startOrigin(t, reply('good'));
    const edge = await startTestEdge(t, { primary: loopback([bad.port]), backup: loopback([good.port]) });
    assert.equal((await edge.get('/', { body: 'data' })).body, 'good');
    assert.deepEqual([bad.requests[0]?.body, good.requests[0]?.body], ['data', 'data']);
  });

  test('the last failure decides the answer: 504 for a timeout, 502 for the others', async (t) => {
    const [closed, silent] = [await freePort(), (await startRawOrigin(t, () => undefined)).port];
    const statusOf = async (primary: number, backup: number) => {
      const origins = { primary: loopback([primary]), backup: loopback([backup]) };
      const { status, headers } = await (await startTestEdge(t, origins, { limits: LIMITS })).get('/');
      return `${status} ${headers['x-cache']}`;
    };
    assert.equal(await statusOf(closed, silent), '504 ERROR originTimeout');
    assert.equal(await statusOf(silent, closed), '502 ERROR originConnect');
  });
});

describe('when all origins fail', () => {
  type Row = readonly [how: string, fail: Answer, cacheControl: string, expected: string];
  const status = reply('sorry', {}, 503);
  const close: Answer = (_request, response) => void response.destroy();
  const rows: readonly Row[] = [
    ['by status', status, 'max-age=10', '503 sorry'],
    ['by status', status, 'max-age=10, stale-if-error=60', '200 good'],
    ['by status', status, 'max-age=10, stale-if-error=60, must-revalidate', '503 sorry'],
    ['without an answer', close, 'max-age=10', '200 good'],
    ['without an answer', close, 'max-age=10, must-revalidate', '504 originReset'],
    ['without an answer', close, 'max-age=10, stale-if-error=0', '504 originReset'],
  ];
  for (const [how, fail, cacheControl, expected] of rows) {
    test(`all origins fail, ${how}, and the stored copy says ${cacheControl}: ${expected}`, async (t) => {
      const origin = await startOrigin(t, reply('good', { 'cache-control': cacheControl }));
      const other = await startOrigin(t, fail);
      const edge = await startTestEdge(t, { primary: loopback([origin.port]), backup: loopback([other.port]) });
      await edge.get('/');
      origin.answer(fail);
      edge.advance(11_000);
      const { status: answered, body, headers } = await edge.get('/');
      const reason = headers['x-cache']?.replace('ERROR ', '');
      assert.equal(`${answered} ${answered === 504 ? reason : body}`, expected);
      assert.equal(other.requests.length, 1); // before the copy, the other origins
    });
  }

  const last: readonly (readonly [how: string, first: Answer, last: Answer, expected: string])[] = [
    ['a status, then no answer', status, close, '200 good'],
    ['no answer, then a status', close, status, '503 sorry'],
  ];
  for (const [how, first, second, expected] of last) {
    test(`all origins fail, ${how}, and the last attempt decides: ${expected}`, async (t) => {
      const origin = await startOrigin(t, reply('good', { 'cache-control': 'max-age=10' }));
      const other = await startOrigin(t, second);
      const edge = await startTestEdge(t, { primary: loopback([origin.port]), backup: loopback([other.port]) });
      await edge.get('/');
      origin.answer(first);
      edge.advance(11_000);
      const { status: answered, body } = await edge.get('/');
      assert.equal(`${answered} ${body}`, expected);
    });
  }

  const HOUR_MS = 3_600_000;
  const asks = (status: number, xCache: string) => [client('GET /'), gets(status, xCache)];
  const stops = act(({ origin }) => origin.stop());

  test('stale-if-error takes precedence over the default day, when no origin answers', (t) =>
    scenario(t, [
      ...[miss('GET /', reply('good', { 'cache-control': 'max-age=10, stale-if-error=200000' })), stops],
      ...[pass(48 * HOUR_MS), asks(200, 'STALE'), pass(10 * HOUR_MS), asks(504, 'ERROR originConnect')],
    ]));

  test('a copy is not served a day after its lifetime', (t) =>
    scenario(t, [
      ...[miss('GET /', reply('good', { 'cache-control': 'max-age=10' })), stops],
      ...[pass(24 * HOUR_MS), asks(200, 'STALE'), pass(11_000), asks(504, 'ERROR originConnect')],
    ]));
});

describe('addresses of a name', () => {
  const hostsFile = '/nonexistent';

  test(
    'each address of a name is tried until one accepts the connection, of either family, in one attempt',
    needs('ipv6'),
    async (t) => {
      const origin = await startOrigin(t, reply('here'), { host: '::1' });
      const dns = await startDns(t, {
        'many.example': { a: ['127.0.0.2', '127.0.0.3', '127.0.0.4'], aaaa: ['0:0:0:0:0:0:0:1'] },
      });
      const resolve = createResolver({ monotonic: () => performance.now(), servers: [dns.server], hostsFile });
      const edge = await startTestEdge(t, { primary: [{ host: 'many.example', port: origin.port }] }, { resolve });
      const { body } = await edge.get('/', { method: 'POST', body: 'data' });
      assert.deepEqual([body, origin.requests[0]?.body], ['here', 'data']);
      assert.doesNotMatch(await edge.registry.metrics(), /origin_failures_total\{/);
    },
  );

  test('a name that has moved is connected to at its new address when its time to live is over', async (t) => {
    const port = await freePort();
    const origin = await startOrigin(t, reply('old', { connection: 'close' }), { host: '127.0.0.2', port });
    await startOrigin(t, reply('new'), { host: '127.0.0.3', port });
    const zones = { 'moves.example': { a: ['127.0.0.2'], ttl: 30 } };
    const dns = await startDns(t, zones);
    let now = 0;
    const resolve = createResolver({ monotonic: () => now, servers: [dns.server], hostsFile });
    const edge = await startTestEdge(t, { primary: [{ host: 'moves.example', port }] }, { resolve });
    assert.equal((await edge.get('/')).body, 'old');
    zones['moves.example'].a = ['127.0.0.3'];
    now = 29_000;
    assert.equal((await edge.get('/')).body, 'old');
    now = 31_000;
    assert.equal((await edge.get('/')).body, 'new');
    assert.equal(origin.requests.length, 2);
  });

  test('a connection that is always in use does not keep a name at its old address', async (t) => {
    const port = await freePort();
    await startOrigin(t, reply('old'), { host: '127.0.0.2', port });
    await startOrigin(t, reply('new'), { host: '127.0.0.3', port });
    let address = '127.0.0.2';
    const limits = { originConnectionMs: 100 };
    const resolve = async () => [address];
    const edge = await startTestEdge(t, { primary: [{ host: 'moves.example', port }] }, { resolve, limits });
    assert.equal((await edge.get('/')).body, 'old');
    address = '127.0.0.3';
    await eventually('asked at the new address', async () => (await edge.get('/')).body === 'new');
  });

  test('an IPv6 address is an origin without a look-up', needs('ipv6'), async (t) => {
    const origin = await startOrigin(t, reply('six'), { host: '::1' });
    const edge = await startTestEdge(t, { primary: [{ host: '::1', port: origin.port }] });
    assert.equal((await edge.get('/')).body, 'six');
    assert.equal(origin.requests[0]?.headers['host'], SITE_HOST);
  });
});

describe('connections to origins', () => {
  test('connections to origins are kept, by each domain its own; each request has its own Host', async (t) => {
    const { edge, origin } = await startSite(t, reply('x', { 'cache-control': 'no-store' }));
    edge.put({
      name: 'second.example.com',
      origins: { ...NO_ORIGINS, primary: loopback([origin.port]), hostHeader: 'source.example' },
    });
    for (let i = 0; i < 5; i++) {
      await edge.get('/');
      await edge.get('/', { host: 'second.example.com' });
    }
    assert.deepEqual(
      origin.requests.map(({ headers }) => headers['host']),
      Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? SITE_HOST : 'source.example')),
    );
    assert.equal(origin.connections(), 2);
  });

  test('old connections to origins end between two requests, never in one', async (t) => {
    const { edge, origin } = await startSite(
      t,
      (_request, response) => {
        response.write('begin ');
        setTimeout(() => response.end('end'), 50); // longer than its connection is used for
      },
      { limits: { originConnectionMs: 20, maxOriginConnections: 4 } },
    );
    for (let i = 0; i < 4; i++) {
      const all = await Promise.all(['/a', '/b', '/c'].map((path) => edge.get(`${path}${i}`)));
      for (const { body, isWhole } of all) assert.deepEqual([body, isWhole], ['begin end', true]);
    }
    assert.ok(origin.connections() > 2);
  });
});

describe('protocol_follow', needs('openssl'), () => {
  test("a client by TLS is served from an origin by TLS, a plain one from a plain one, and neither gets the other's copy", async (t) => {
    const fresh = { 'cache-control': 'max-age=60' };
    const secure = await startOrigin(t, reply('secure', fresh), { tls: createAuthority(t).issue([SITE_HOST]) });
    const plain = await startOrigin(t, reply('plain', fresh));
    const proxies = { trusted: ['127.0.0.1'], protocol: 'off' } as const;
    const origins = { protocol: 'follow', primary: loopback([secure.port]), backup: loopback([plain.port]) } as const;
    const edge = await startTestEdge(t, origins, { proxies });
    const byTls = { headers: ['X-Forwarded-For', '192.0.2.1', 'X-Forwarded-Proto', 'https'] };
    assert.equal((await edge.get('/', byTls)).body, 'secure');
    assert.equal(secure.requests[0]?.headers['x-forwarded-proto'], 'https');
    assert.equal((await edge.get('/')).body, 'plain'); // the first cannot be asked without TLS
    for (const [options, body] of [
      [byTls, 'secure'],
      [{}, 'plain'],
    ] as const) {
      const again = await edge.get('/', options);
      assert.deepEqual([again.body, again.headers['x-cache']], [body, 'HIT']);
    }
  });
});

test('a client that leaves while its origin is silent does not count as a failure, and no other origin is asked', async (t) => {
  const silent = await startRawOrigin(t, () => undefined);
  const other = await startOrigin(t, reply('other'));
  const edge = await startTestEdge(t, { primary: loopback([silent.port]), backup: loopback([other.port]) });
  const client = connectRaw(edge.port, `POST / HTTP/1.1\r\nHost: ${SITE_HOST}\r\nContent-Length: 1\r\n\r\nx`);
  await eventually('asked', () => silent.heads.length === 1);
  client.socket.destroy();
  await eventually('logged', () => edge.log.length === 1);
  assert.equal(other.requests.length, 0);
  assert.doesNotMatch(await edge.registry.metrics(), /origin_failures_total\{/);
});
