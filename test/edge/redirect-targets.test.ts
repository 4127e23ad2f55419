/** Where a redirect may lead, and where the edge does not follow it. Edge rules 2 and 7 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createGuard } from '../../src/edge/origin/guard.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { loopback, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin, startRawOrigin } from '../support/edge/origin.ts';
import { ELSEWHERE, follow, redirect, startPair } from '../support/edge/redirects.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/runner/needs.ts';

describe('redirect targets that the edge does not connect to', () => {
  const inner = [
    '127.0.0.1',
    '10.1.2.3',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '[::1]',
    '[fe80::1]',
    '[fd00::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::7f00:1]',
    '0.0.0.0',
    '0x7f.1',
    '2130706433',
  ];
  const guarded = (port: number) => createGuard({ allow: ['127.0.0.0/8', '::1'], refuse: [{ host: '::', port }] });

  test('a redirect to a private address, in any spelling, is passed to the client, and nothing is connected', async (t) => {
    const own = await startRawOrigin(t, () => undefined); // as if it were a listener of our own
    const origin = await startOrigin(t, reply(''));
    const edge = await startTestEdge(t, [], { guard: guarded(own.port) });
    follow(edge, loopback([origin.port]));
    for (const host of inner) {
      const location = `http://${host}:${own.port}/latest/meta-data/`;
      origin.answer(redirect(location));
      const received = await edge.get(`/${host.replaceAll(/\W/g, '')}`);
      assert.deepEqual([received.status, received.headers['location']], [302, location], host);
      assert.equal(received.headers['x-cache'], 'MISS redirectTarget');
    }
    assert.equal(own.connections(), 0);
    assert.match(await edge.registry.metrics(), /causeway_edge_origin_failures_total{reason="originForbidden"} 14/);
  });

  test('a redirect to a name that moves to a private address between two requests is passed to the client', async (t) => {
    const addresses = ['127.0.0.1'];
    const own = await startRawOrigin(t, () => undefined);
    const { edge, target } = await startPair(
      t,
      (_request, response) => response.writeHead(200, { connection: 'close' }).end('object'),
      {},
      {
        resolve: async () => addresses,
        guard: createGuard({ allow: ['127.0.0.1/32'], refuse: [{ host: '::', port: own.port }] }),
      },
    );
    assert.equal((await edge.get('/1')).status, 200);
    addresses.splice(0, 1, '127.0.0.2');
    assert.equal((await edge.get('/2')).headers['x-cache'], 'MISS redirectTarget');
    assert.equal(target.requests.length, 1);
  });

  test('a second redirect to a private address is passed to the client', async (t) => {
    const own = await startRawOrigin(t, () => undefined);
    const { edge, target } = await startPair(t, reply(''), {}, { guard: guarded(own.port) });
    target.answer(redirect(`http://127.0.0.1:${own.port}/`));
    assert.equal((await edge.get('/a')).headers['location'], `http://127.0.0.1:${own.port}/`);
    assert.equal(own.connections(), 0);
  });

  test('a redirect to another domain of this edge is passed to the client', async (t) => {
    const { edge, origin } = await startPair(t, reply('object'));
    edge.put({ name: 'second.example.com', origins: { ...NO_ORIGINS, primary: loopback([origin.port]) } });
    origin.answer(redirect('http://second.example.com/x'));
    assert.equal((await edge.get('/a')).headers['location'], 'http://second.example.com/x');
    assert.equal(origin.requests.length, 1);
  });

  test('a thousand redirect targets that refuse connections leave the site and its neighbours unaffected', async (t) => {
    const dead = await freePort();
    const origin = await startOrigin(t, (request, response) => {
      if (request.target === '/fine') return reply('fine')(request, response);
      redirect(`http://host${request.target.slice(1)}.example:${dead}/`)(request, response);
    });
    const edge = await startTestEdge(t, [], { resolve: async () => ['127.0.0.1'] });
    follow(edge, loopback([origin.port]));
    await edge.get('/fine');
    for (let i = 0; i < 300; i++) assert.equal((await edge.get(`/${i}`)).status, 302);
    assert.equal((await edge.get('/fine')).body, 'fine');
    assert.equal(origin.connections(), 1);
  });
});

describe('over TLS', needs('openssl'), () => {
  test("EdgeAdmin#21: Host and server name are the target's, and its certificate is verified for that name", async (t) => {
    const authority = createAuthority(t);
    const target = await startOrigin(t, reply('secure'), { tls: authority.issue([ELSEWHERE]) });
    const wrong = await startOrigin(t, reply('wrong'), { tls: authority.issue(['wrong.example']) });
    const origin = await startOrigin(t, redirect(`https://${ELSEWHERE}:${target.port}/`));
    const edge = await startTestEdge(t, [], { resolve: async () => ['127.0.0.1'], originCa: authority.ca });
    follow(edge, loopback([origin.port]), 'source.example');
    assert.equal((await edge.get('/a')).body, 'secure');
    const [seen] = target.requests;
    assert.deepEqual([seen?.serverName, seen?.headers['host']], [ELSEWHERE, `${ELSEWHERE}:${target.port}`]);
    origin.answer(redirect(`https://${ELSEWHERE}:${wrong.port}/`));
    assert.equal((await edge.get('/b')).status, 302);
    assert.equal(wrong.requests.length, 0);
  });

  test('a redirect from HTTPS to plain HTTP is not followed', async (t) => {
    const authority = createAuthority(t);
    const plain = await startOrigin(t, reply('plain'));
    const origin = await startOrigin(t, redirect(`http://${ELSEWHERE}:${plain.port}/`), {
      tls: authority.issue([SITE_HOST]),
    });
    const edge = await startTestEdge(t, [], { resolve: async () => ['127.0.0.1'], originCa: authority.ca });
    edge.put({
      name: SITE_HOST,
      redirectFollow: true,
      origins: { ...NO_ORIGINS, protocol: 'https', primary: [{ host: 'o.example', port: origin.port }] },
    });
    assert.equal((await edge.get('/a')).status, 302);
    assert.equal(plain.requests.length, 0);
    assert.match(await edge.registry.metrics(), /causeway_edge_redirects_total{outcome="downgrade"} 1/);
  });
});
