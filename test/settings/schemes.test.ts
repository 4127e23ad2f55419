/** Settings whose meaning is the viewer's scheme, from the call to viewers by http and by https of one domain. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp, createServer, type Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect } from 'node:tls';
import { createAuthority } from '../support/certificates/certificate.ts';
import { reply, startOrigin, startRawOrigin } from '../support/edge/origin.ts';
import { accept, KEY } from '../support/edge/web-socket.ts';
import { eventually } from '../support/eventually.ts';
import { untilInForce } from '../support/process/service-with-domain.ts';
import { needs } from '../support/runner/needs.ts';
import {
  type Check,
  cacheStatus,
  runChecks,
  startWorld,
  startWorlds,
  targetsOf,
  withHttps,
} from '../support/settings/world.ts';

const HOUR = { 'cache-control': 'max-age=3600' };
const PLAIN = { scheme: 'http' } as const;

const checks = (t: TestContext, ssl_key: string): Readonly<Record<string, Check>> => ({
  'a policy for one scheme leaves the other’s viewers alone': async ({ set, get }) => {
    const cached = { is_cache: 1, policy_type: 'prefix', time_h: 1 } as const;
    const policy = [
      { is_cache: 0, policy_type: 'prefix', content: '/none/' } as const,
      { ...cached, policy_scheme: 'https', content: '/secure/' },
      { ...cached, policy_scheme: 'http', content: '/plain/' },
    ];
    await set('config.setPolicies', { use_header_setting: 0, policy });
    const seen = async (path: string) => {
      const answers = [await get(path, PLAIN), await get(path), await get(path, PLAIN), await get(path)];
      return answers.map(cacheStatus);
    };
    assert.deepEqual(await seen('/secure/a'), ['BYPASS noPolicy', 'MISS', 'BYPASS noPolicy', 'HIT']);
    assert.deepEqual(await seen('/plain/a'), ['MISS', 'BYPASS noPolicy', 'HIT', 'BYPASS noPolicy']);
    assert.deepEqual(await seen('/none/a'), Array(4).fill('BYPASS policy'));
  },

  'both schemes share what is stored, unless the origin is asked by the viewer’s': async ({ set, get, origin }) => {
    assert.deepEqual([await get('/a', PLAIN), await get('/a')].map(cacheStatus), ['MISS', 'HIT']);
    const secure = await startOrigin(t, reply('by TLS', HOUR), { tls: createAuthority(t).issue(['x.example']) });
    const data = `127.0.0.1:${await startSwitch(t, origin.port, secure.port)}`;
    await set('domain.updateOrigin', { data, source_type: 'protocol_follow' });
    origin.answer(reply('plain', HOUR));
    const both = async () => {
      const [plain, tls] = [await get('/b', PLAIN), await get('/b')];
      return [plain.body, cacheStatus(plain), tls.body, cacheStatus(tls)];
    };
    assert.deepEqual(await both(), ['plain', 'MISS', 'by TLS', 'MISS']);
    assert.deepEqual(await both(), ['plain', 'HIT', 'by TLS', 'HIT']);
    assert.deepEqual([targetsOf(origin), targetsOf(secure)], [['/a', '/b'], ['/b']]);
    assert.match(secure.requests[0]?.serverName ?? '', /^https-\d\.example\.com$/);
  },

  'force_https sends to HTTPS, and HSTS goes out there alone': async ({ set, get }) => {
    await set('config.setSsl', { ssl_control: 1, ssl_key, force_https: 1, hsts_max_age: 300 });
    const plain = await get('/a?b', PLAIN);
    assert.equal(plain.status, 301);
    assert.match(plain.headers['location'] ?? '', /^https:\/\/https-\d\.example\.com\/a\?b$/);
    assert.equal(plain.headers['strict-transport-security'], undefined);
    assert.equal((await get('/a?b', { ...PLAIN, method: 'POST', body: 'x' })).status, 308);
    const secure = await get('/a?b');
    assert.deepEqual([secure.status, secure.headers['strict-transport-security']], [200, 'max-age=300']);
    // Whom the rules refuse is not sent on.
    await set('config.setUserAgent', { ua_control: 1, ua_str: 'bad' });
    const bad = { headers: ['User-Agent', 'bad'] };
    assert.equal(cacheStatus(await get('/a', { ...bad, ...PLAIN })), 'DENIED userAgent');
    const refused = await get('/a', bad);
    assert.deepEqual([refused.status, refused.headers['strict-transport-security']], [403, 'max-age=300']);
    await set('config.setSsl', { ssl_control: 1, ssl_key, force_https: 0, hsts_max_age: 0 });
    assert.equal((await get('/a?b', PLAIN)).status, 200);
    assert.equal((await get('/a?b')).headers['strict-transport-security'], undefined);
  },
});

const listen = { CAUSEWAY_EDGE_HTTP_LISTEN: '[::]:0', CAUSEWAY_EDGE_HTTPS_LISTEN: '[::]:0' };

test(
  'settings that distinguish the schemes are obeyed over both',
  needs('openssl', { timeout: 180_000 }),
  async (t) => {
    const worlds = await withHttps(t, await startWorlds(t, listen));
    await runChecks(t, worlds, checks(t, worlds.certificate.ssl_key));

    await t.test('a WebSocket is passed through over TLS', async (t) => {
      const origin = await startRawOrigin(t, (socket, head) => {
        socket.removeAllListeners('data').on('data', (chunk) => socket.write(chunk));
        socket.write(`${accept(head)}welcome `);
      });
      const host = 'socket.example.com';
      const { set } = await startWorld(t, worlds, host);
      await set('domain.updateOrigin', { data: `127.0.0.1:${origin.port}` });
      const { ca } = worlds.certificate;
      const socket = connect({ port: worlds.httpsPort, host: '127.0.0.1', servername: host, ca });
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
      });
      const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}`;
      socket.write(`GET /chat HTTP/1.1\r\nHost: ${host}\r\n${upgrade}\r\n\r\n`);
      await eventually('it is open', () => text.includes('welcome '));
      assert.match(text, /^HTTP\/1\.1 101 /);
      socket.write('and back');
      await eventually('it echoes', () => text.endsWith('welcome and back'));
      socket.destroy();
      assert.match(origin.heads[0] ?? '', /^x-forwarded-proto: https$/im);
    });

    await t.test('viewers of two hosts under a wildcard are served over IPv4 and IPv6', needs('ipv6'), async (t) => {
      const world = await startWorld(t, worlds, '*.w.example.com', 'a.w.example.com');
      await untilInForce(world);
      const { get, set } = world;
      const b = { host: 'b.w.example.com' };
      const seen = [await get('/1'), await get('/1', PLAIN), await get('/1', { ...b, ...PLAIN }), await get('/1', b)];
      assert.deepEqual(seen.map(cacheStatus), ['MISS', 'HIT', 'MISS', 'HIT']);
      // The domain has the host, and the certificate has not: it is for one label.
      const deep = { host: 'deep.b.w.example.com' };
      assert.equal((await get('/1', { ...deep, ...PLAIN })).status, 200);
      await assert.rejects(get('/1', deep), /unrecognized name/);
      await set('config.setIp', { ip_type: 1, ip_str: '::1' });
      for (const scheme of ['http', 'https'] as const) {
        const six = cacheStatus(await get('/1', { scheme, address: '::1' }));
        assert.deepEqual([six, cacheStatus(await get('/1', { scheme }))], ['DENIED ip', 'HIT'], scheme);
      }
    });
  },
);

/** One port for both schemes, as an origin on 80 and 443 is with `protocol_follow`. */
async function startSwitch(t: TestContext, plainPort: number, securePort: number): Promise<number> {
  const server: Server = createServer((near) => {
    near.once('data', (first: Buffer) => {
      near.pause();
      const far = connectTcp(first[0] === TLS_HANDSHAKE ? securePort : plainPort, '127.0.0.1');
      far.write(first);
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) socket.on('error', () => socket.destroy());
    });
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const TLS_HANDSHAKE = 22;
