/** What a site's settings make of the client's scheme: redirects, HSTS, policies, followed origins; and which hosts a connection is for. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { connect } from 'node:tls';
import { loopback, NO_ORIGINS, SITE_HOST } from '../support/edge/edge.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { type Answer, reply, startOrigin } from '../support/edge/origin.ts';
import { needs } from '../support/runner/needs.ts';

const HOUR = { 'cache-control': 'max-age=3600' };
const PLAIN = `http://${SITE_HOST}`;
const SECURE = `https://${SITE_HOST}`;
const NEEDS = needs('openssl', 'curl');

describe('force_https', NEEDS, () => {
  test('plain requests are redirected to HTTPS with a status that keeps their method, to our port if they named it', async (t) => {
    const edge = await startHttpsEdge(t);
    edge.putTls(SITE_HOST, { forceHttps: true });
    const rows: readonly (readonly [args: readonly string[], url: string, status: number, location: string])[] = [
      [[], `${PLAIN}/a%20b?c=d`, 301, `${SECURE}/a%20b?c=d`],
      [['-I'], `${PLAIN}/`, 301, `${SECURE}/`],
      [['-d', 'x'], `${PLAIN}/form`, 308, `${SECURE}/form`],
      [['-X', 'DELETE'], `${PLAIN}/x`, 308, `${SECURE}/x`],
      [[], `${PLAIN}:${edge.port}/`, 301, `${SECURE}:${edge.httpsPort}/`],
      [[], `${PLAIN}:8080/`, 301, `${SECURE}/`],
      [['-H', `Host: ${SITE_HOST.toUpperCase()}.`], `${PLAIN}/`, 301, `${SECURE}/`],
      [['--request-target', `${PLAIN}/absolute`], `${PLAIN}/`, 301, `${SECURE}/absolute`],
    ];
    for (const [args, url, status, location] of rows) {
      const said = await edge.curl(url, ...args);
      assert.deepEqual([said.status, said.headers['location']], [status, location]);
      assert.equal(said.headers['x-cache'], 'REDIRECT forceHttps');
      assert.equal(said.headers['cache-control'], 'no-store');
    }
    assert.equal(edge.origin.requests.length, 0);
    assert.equal((await edge.curl(`${SECURE}/`)).body, 'hello');
    assert.deepEqual([...new Set(edge.log.map((fields) => fields.result))], ['NONE/301', 'NONE/308', 'TCP_MISS/200']);
    // Where the domain lets nobody in, it sends nobody on either.
    edge.putTls(SITE_HOST, { forceHttps: true }, { access: { deniedUserAgents: ['curl'] } });
    assert.equal((await edge.curl(`${PLAIN}/`)).headers['x-cache'], 'DENIED userAgent');
    edge.putTls(SITE_HOST, { forceHttps: true }, { state: 'closed', access: {} });
    assert.equal((await edge.curl(`${PLAIN}/`)).headers['x-cache'], 'DENIED closed');
  });

  test('a request that reached a trusted proxy by TLS counts as HTTPS', async (t) => {
    const edge = await startHttpsEdge(t, undefined, { proxies: { trusted: ['127.0.0.1'], protocol: 'off' } });
    edge.putTls(SITE_HOST, { forceHttps: true, hstsMaxAgeSeconds: 60 });
    const secure = await edge.curl(`${PLAIN}/`, '-H', 'X-Forwarded-Proto: https');
    assert.deepEqual([secure.status, secure.headers['strict-transport-security']], [200, 'max-age=60']);
    assert.equal((await edge.curl(`${PLAIN}/`)).status, 301);
    assert.equal((await edge.curl(`${SECURE}/`)).status, 200);
    assert.equal((await edge.curl(`${SECURE}/`, '-H', 'X-Forwarded-Proto: http')).status, 301);
  });
});

test("HSTS is sent over TLS only, on every answer, in place of the origin's", NEEDS, async (t) => {
  const edge = await startHttpsEdge(t, reply('x', { ...HOUR, 'strict-transport-security': 'max-age=1' }));
  const hsts = async (url: string, ...args: readonly string[]) => {
    const { status, headers } = await edge.curl(url, ...args);
    return [status, headers['strict-transport-security']];
  };
  assert.deepEqual(await hsts(`${SECURE}/`), [200, 'max-age=1']);
  edge.putTls(SITE_HOST, { hstsMaxAgeSeconds: 86_400 }, { access: { deniedUserAgents: ['bad'] } });
  assert.deepEqual(await hsts(`${SECURE}/`), [200, 'max-age=86400']); // a hit
  assert.deepEqual(await hsts(`${SECURE}/`, '--http1.1'), [200, 'max-age=86400']);
  assert.deepEqual(await hsts(`${SECURE}/`, '-A', 'bad'), [403, 'max-age=86400']);
  assert.deepEqual(await hsts(`${SECURE}/`, '-X', 'TRACE'), [405, undefined]); // no site was looked for
  assert.deepEqual(await hsts(`${PLAIN}/`), [200, 'max-age=1']); // the origin's word, which browsers ignore there
});

describe("the client's scheme", NEEDS, () => {
  test('policies for one scheme apply to it only, whatever the protocol version', async (t) => {
    const edge = await startHttpsEdge(t, reply('x', HOUR));
    const policy = { match: 'prefix', priority: 1, isCached: true, lifetimeSeconds: 60 } as const;
    edge.putTls(
      SITE_HOST,
      {},
      {
        caching: {
          followsOrigin: true,
          prefixFirst: false,
          policies: [
            { ...policy, content: '/a', scheme: 'https', isCached: false },
            { ...policy, content: '/b', scheme: 'http', isCached: false },
            { ...policy, match: 'regex', content: '^https://[^/]*/c', isCached: false },
          ],
        },
      },
    );
    const rows: readonly (readonly [path: string, plain: string, secure: string])[] = [
      ['/a', 'MISS', 'BYPASS policy'],
      ['/b', 'BYPASS policy', 'MISS'],
      ['/c', 'MISS', 'BYPASS policy'],
    ];
    for (const [path, plain, secure] of rows) {
      assert.equal((await edge.curl(PLAIN + path)).headers['x-cache'], plain);
      for (const version of ['--http1.1', '--http2']) {
        const seen = (await edge.curl(SECURE + path, version)).headers['x-cache'];
        assert.equal(seen, secure === 'MISS' && version === '--http2' ? 'HIT' : secure, path + version);
      }
    }
  });

  test("both schemes share an object, unless the origin is asked by the client's scheme", async (t) => {
    const edge = await startHttpsEdge(t, (request, response) =>
      reply(`plain ${request.headers['x-forwarded-proto']}`, HOUR)(request, response),
    );
    assert.equal((await edge.curl(`${PLAIN}/`)).body, 'plain http');
    const shared = await edge.curl(`${SECURE}/`);
    assert.deepEqual([shared.headers['x-cache'], shared.body], ['HIT', 'plain http']);

    const secureOrigin = await startOrigin(t, reply('secure', HOUR), { tls: edge.authority.issue(['x']) });
    const primary = [...loopback([edge.origin.port])];
    edge.putTls(SITE_HOST, {}, { origins: { ...NO_ORIGINS, protocol: 'follow', primary } });
    assert.equal((await edge.curl(`${PLAIN}/`)).body, 'plain http');
    assert.equal((await edge.curl(`${SECURE}/`)).headers['x-cache'], 'ERROR originTls'); // it speaks none
    edge.putTls(
      SITE_HOST,
      {},
      { origins: { ...NO_ORIGINS, protocol: 'follow', primary: loopback([secureOrigin.port]) } },
    );
    assert.equal((await edge.curl(`${SECURE}/`)).body, 'secure');
    assert.equal((await edge.curl(`${PLAIN}/`)).headers['x-cache'], 'HIT');
    assert.equal((await edge.curl(`${SECURE}/`)).headers['x-cache'], 'HIT');
    // A purge names an address of either scheme, and takes both.
    edge.purge({ kind: 'url', target: `${SITE_HOST}/` });
    assert.equal((await edge.curl(`${SECURE}/`)).headers['x-cache'], 'MISS');
    assert.notEqual((await edge.curl(`${PLAIN}/`)).headers['x-cache'], 'HIT');
    // A prefetch fetches what its own scheme's clients get.
    const outcome = await edge.edge.prefetch({ host: SITE_HOST, target: '/p', scheme: 'https' });
    assert.equal(outcome.kind, 'stored');
    assert.equal((await edge.curl(`${SECURE}/p`)).headers['x-cache'], 'HIT');
    assert.notEqual((await edge.curl(`${PLAIN}/p`)).headers['x-cache'], 'HIT');
  });

  test('explain tells the schemes apart', async (t) => {
    const edge = await startHttpsEdge(t);
    edge.putTls(SITE_HOST, { forceHttps: true });
    const ask = async (scheme: 'http' | 'https', host: string = SITE_HOST) =>
      edge.edge.explain({
        method: 'GET',
        scheme,
        host,
        target: '/',
        headers: [],
        clientAddress: '192.0.2.1',
      });
    assert.equal((await ask('http')).xCache, 'REDIRECT forceHttps');
    assert.equal((await ask('https')).xCache, 'MISS');
    // As a handshake would: without HTTPS, without the certificate, without a listener.
    const handshake = async (host?: string) => {
      const { steps, xCache } = await ask('https', host);
      return [steps.find(({ stage }) => stage === 'handshake')?.found, xCache];
    };
    assert.deepEqual(await handshake(), ["succeeds, with the domain's certificate", 'MISS']);
    edge.addCertificate('c2', [SITE_HOST], { isRsa: true });
    edge.putTls(SITE_HOST, { secondCertificate: 'c2' });
    const two = "succeeds, with the domain's certificate c1 or c2, whichever type of key the client accepts";
    assert.deepEqual(await handshake(), [two, 'MISS']);
    edge.putTls(SITE_HOST, { certificate: 'not-here' });
    const absent = "fails: the domain's certificate or key is missing or unusable, or not for this host";
    assert.deepEqual(await handshake(), [absent, '']);
    assert.notEqual((await edge.curl(`${SECURE}/`)).exitCode, 0);
    edge.put({ name: 'plain.example.com', origins: { ...NO_ORIGINS, primary: loopback([edge.origin.port]) } });
    assert.deepEqual(await handshake('plain.example.com'), ['fails: no domain with HTTPS has this host', '']);
  });
});

test('a connection is for the hosts of its certificate: others are misdirected', NEEDS, async (t) => {
  const edge = await startHttpsEdge(t);
  const [sibling, third, deep] = ['a.example.com', 'b.example.com', 'c.d.example.com'];
  edge.addCertificate('many', [SITE_HOST, '*.example.com']);
  edge.putTls(SITE_HOST, { certificate: 'many' });
  edge.putTls(sibling, { certificate: 'many' });
  edge.putTls('*.d.example.com', { certificate: 'many' });
  edge.putTls(third, { certificate: 'c1' });
  edge.put({ name: 'plain.example.com', origins: { ...NO_ORIGINS, primary: loopback([edge.origin.port]) } });
  for (const version of ['--http1.1', '--http2', '--tls-max 1.2']) {
    const ask = async (host: string) =>
      (await edge.curl(`${SECURE}/`, ...version.split(' '), '-H', `Host: ${host}`)).headers['x-cache'];
    assert.match((await ask(SITE_HOST)) ?? '', /^MISS/);
    assert.match((await ask(`${sibling}:8443`)) ?? '', /^MISS/);
    for (const host of [third, deep, 'plain.example.com']) assert.equal(await ask(host), 'ERROR misdirected', host);
    assert.equal(await ask('nobody.example.org'), 'DENIED unknownHost');
  }
  edge.putTls(sibling, { certificate: 'many', minVersion: '1.3' });
  const old = await edge.curl(`${SECURE}/`, '--tls-max', '1.2', '-H', `Host: ${sibling}`);
  assert.deepEqual([old.status, old.headers['x-cache']], [421, 'ERROR misdirected']);
});

test(
  'a new certificate leaves a connection in use as it is, is shown to new ones, and no handshake fails under load',
  NEEDS,
  async (t) => {
    const edge = await startHttpsEdge(t, reply('x', HOUR));
    edge.addCertificate('c2', [SITE_HOST]);
    const open = () =>
      connect({ port: edge.httpsPort, host: '127.0.0.1', servername: SITE_HOST, ca: edge.authority.ca });
    const get = async (socket: ReturnType<typeof open>) => {
      socket.write(`GET / HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
      const [head] = await once(socket, 'data');
      assert.match(String(head), /^HTTP\/1\.1 200 /);
    };
    const first = open();
    const fingerprint = async () => {
      const socket = open();
      await once(socket, 'secureConnect');
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      return fingerprint256;
    };
    await get(first);
    const before = await fingerprint();
    const shown = new Set<string>();
    let handshakes = 0;
    const client = async () => {
      while (handshakes < 1000) {
        handshakes += 1;
        if (handshakes % 50 === 0) edge.putTls(SITE_HOST, { certificate: handshakes % 100 === 0 ? 'c1' : 'c2' });
        shown.add(await fingerprint()); // rejects where the handshake fails
      }
    };
    await Promise.all(Array.from({ length: 8 }, client));
    assert.equal(shown.size, 2);
    edge.putTls(SITE_HOST, { certificate: 'c2' });
    assert.notEqual(await fingerprint(), before);
    await get(first);
    first.destroy();
  },
);

test('a redirect to HTTPS by the origin does not send HTTPS viewers in a loop', NEEDS, async (t) => {
  const origin: Answer = (request, response) => {
    const isPlain = request.headers['x-forwarded-proto'] === 'http';
    const location = request.target.startsWith('/elsewhere') ? `${SECURE}/other` : `${SECURE}${request.target}`;
    response.writeHead(isPlain ? 301 : 200, { ...HOUR, ...(isPlain && { location }) }).end(isPlain ? 'moved' : 'hello');
  };
  const edge = await startHttpsEdge(t, origin);
  edge.putTls(SITE_HOST, {});
  const see = async (url: string) => {
    const { status, headers } = await edge.curl(url);
    return `${status} ${headers['x-cache']}`;
  };
  assert.equal(await see(`${PLAIN}/a?b=c`), '301 MISS otherScheme');
  assert.equal(await see(`${SECURE}/a?b=c`), '200 MISS');
  assert.equal(await see(`${SECURE}/a?b=c`), '200 HIT');
  assert.equal(await see(`${PLAIN}/elsewhere`), '301 MISS');
  assert.equal(await see(`${PLAIN}/elsewhere`), '301 HIT');
});
