/** HTTPS at the edge, requested by curl and openssl: the certificates shown, their form, and refused handshakes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSiteTable } from '../../src/sites/lookup.ts';
import type { SiteSpec } from '../../src/sites/spec.ts';
import { helloOf } from '../support/edge/client-hello.ts';
import { connectRaw, NO_ORIGINS, SITE_HOST } from '../support/edge/edge.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const GET = `GET / HTTP/1.1\r\nHost: ${SITE_HOST}\r\nConnection: close\r\n\r\n`;
const UNRECOGNIZED = /alert number 112|unrecognized name/;

describe('certificates', needs('openssl', 'curl'), () => {
  test('the chain is sent leaf first, by TLS 1.2 and 1.3, with ECDSA and RSA keys', async (t) => {
    const edge = await startHttpsEdge(t);
    edge.addCertificate('chain', [SITE_HOST], { hasIntermediate: true });
    edge.addCertificate('rsa', [SITE_HOST], { hasIntermediate: true, isRsa: true });
    for (const certificate of ['chain', 'rsa']) {
      edge.putTls(SITE_HOST, { certificate });
      for (const version of ['1_2', '1_3']) {
        const said = await edge.sClient(SITE_HOST, [`-tls${version}`, '-showcerts', '-ign_eof'], GET);
        const shown = [...said.matchAll(/^ *\d s:(.*)$/gm)].map(([, subject = '']) => subject.replaceAll(' ', ''));
        assert.deepEqual(shown, ['CN=test', 'CN=testintermediate'], said);
        assert.match(said, /Verification: OK|Verify return code: 0 \(ok\)/);
        assert.match(
          said,
          new RegExp(`Protocol *: *TLSv${version.replace('_', '.')}|New, TLSv${version.replace('_', '.')}`),
        );
        assert.match(said, /HTTP\/1\.1 200 /);
      }
    }
  });

  test('a name without a certificate fails the handshake, and no other certificate is shown', async (t) => {
    const edge = await startHttpsEdge(t);
    edge.put({ name: 'plain.example.com', origins: { ...NO_ORIGINS, primary: [{ host: '127.0.0.1' }] } });
    edge.addCertificate('wild', ['*.example.net', 'deep.a.example.net']);
    edge.putTls('*.example.net', { certificate: 'wild' });
    edge.putTls('missing.example.com', { certificate: 'nowhere' });
    edge.putTls('wrong.example.com', { certificate: 'c1' });
    edge.certificates.set('spoilt', { certificate: 'not PEM', key: '' });
    edge.putTls('spoilt.example.com', { certificate: 'spoilt' });
    const { key } = edge.authority.issue(['other.example.com']);
    const { cert } = edge.authority.issue(['other.example.com']);
    edge.certificates.set('unpaired', { certificate: cert, key });
    edge.putTls('other.example.com', { certificate: 'unpaired' });
    const rows: readonly (readonly [name: string, outcome: string])[] = [
      [SITE_HOST, 'full'],
      [SITE_HOST.toUpperCase(), 'full'],
      ['a.example.net', 'full'],
      ['deep.a.example.net', 'full'],
      ['other.a.example.net', 'noCertificate'],
      ['', 'noServerName'],
      ['unknown.example.org', 'unknownServerName'],
      ['example.net', 'unknownServerName'],
      ['plain.example.com', 'unknownServerName'],
      ['missing.example.com', 'noCertificate'],
      ['wrong.example.com', 'noCertificate'],
      ['spoilt.example.com', 'noCertificate'],
      ['other.example.com', 'noCertificate'],
      ['x'.repeat(63), 'unknownServerName'],
    ];
    const expected: Record<string, number> = {};
    for (const [name, outcome] of rows) {
      const said = await edge.sClient(name, [], GET);
      expected[outcome] = (expected[outcome] ?? 0) + 1;
      assert.deepEqual(await edge.handshakes(), expected, name);
      assert.equal(/BEGIN CERTIFICATE/.test(said), outcome === 'full', name);
      if (outcome !== 'full') assert.match(said, name === '' ? /missing extension/ : UNRECOGNIZED, name);
    }
  });

  test('an expired certificate is shown, for the client to decide', async (t) => {
    const edge = await startHttpsEdge(t);
    edge.addCertificate('old', [SITE_HOST], { isExpired: true });
    edge.putTls(SITE_HOST, { certificate: 'old' });
    const refused = await edge.curl(`https://${SITE_HOST}/`);
    assert.equal(refused.exitCode, 60);
    assert.match(refused.problem, /certificate has expired/);
    assert.equal((await edge.curl(`https://${SITE_HOST}/`, '-k')).status, 200);
    assert.match(await edge.registry.metrics(), /causeway_edge_expired_certificates 1/);
  });

  test('TLS 1.1 is refused, TLS 1.2 unless the site requires 1.3; a closed site says so', async (t) => {
    const edge = await startHttpsEdge(t);
    const open = (version: string) =>
      edge.curl(`https://${SITE_HOST}/`, '--tls-max', version, '--tlsv1.0', '--ciphers', 'DEFAULT@SECLEVEL=0');
    assert.equal((await open('1.1')).exitCode, 35);
    assert.equal((await open('1.2')).status, 200);
    edge.putTls(SITE_HOST, { minVersion: '1.3' });
    assert.equal((await open('1.2')).exitCode, 35);
    assert.equal((await open('1.3')).status, 200);
    edge.putTls(SITE_HOST, {}, { state: 'closed' });
    assert.equal((await open('1.3')).headers['x-cache'], 'DENIED closed');
  });

  test('a certificate that was replaced before this worker knows it is served from its first use', async (t) => {
    const specs = new Map<string, { readonly spec: SiteSpec; readonly revision: number }>();
    const source = {
      getSpec: (name: string) => specs.get(name),
      purgesOf: () => [],
      getCertificate: () => undefined,
      getAddressList: () => undefined,
      urlKeysOf: () => [],
    };
    const sites = createSiteTable({ source, maxSites: 10 });
    const edge = await startHttpsEdge(t, undefined, { sites });
    const origins = { ...NO_ORIGINS, primary: [{ host: '127.0.0.1' }] };
    const site = { id: 1, name: SITE_HOST, type: 'static', state: 'open', origins } as const;
    const bind = (certificate: string) =>
      specs.set(SITE_HOST, { spec: { ...site, tls: { certificate } }, revision: 1 });
    for (const key of ['old', 'new']) edge.addCertificate(key, [SITE_HOST]);
    const show = () => edge.sClient(SITE_HOST, [], GET);
    bind('old');
    assert.equal(sites.find(SITE_HOST)?.tls?.certificate, 'old'); // a request over HTTP, which needs none
    // What the feed's process does in one transaction; its message is still on the way.
    bind('new');
    edge.certificates.delete('old');
    assert.match(await show(), /Verification: OK/);
    specs.set(SITE_HOST, { spec: site, revision: 1 });
    edge.certificates.delete('new');
    edge.edge.https?.forget([SITE_HOST]);
    assert.match(await show(), UNRECOGNIZED);
    assert.deepEqual(await edge.handshakes(), { full: 1, unknownServerName: 1 });
  });

  test('certificates beyond those kept in memory are still served, each for its own name', async (t) => {
    const edge = await startHttpsEdge(t, undefined, { limits: { maxCertificates: 2 } });
    const names = ['a.example.net', 'b.example.net', 'c.example.net', 'd.example.net'];
    for (const name of names) {
      edge.addCertificate(name, [name]);
      edge.putTls(name, { certificate: name });
    }
    for (const name of [...names, ...names]) assert.equal((await edge.curl(`https://${name}/`)).status, 200, name);
  });

  test('a client that renegotiates is refused', async (t) => {
    const edge = await startHttpsEdge(t);
    const said = await edge.sClient(SITE_HOST, ['-tls1_2'], 'R\n');
    assert.match(said, /RENEGOTIATING[\s\S]*no renegotiation/);
    assert.equal((await edge.handshakes())['full'], 1);
  });

  test('a connection that is not TLS, says nothing or stops in the middle is ended in time', async (t) => {
    const edge = await startHttpsEdge(t, undefined, { limits: { handshakeMs: 800 } });
    const hello = (await helloOf({ servername: SITE_HOST })).toString('latin1');
    const silent = ['', hello.slice(0, 1), hello.slice(0, 100), hello].map((bytes) =>
      connectRaw(edge.httpsPort, bytes),
    );
    const other = await connectRaw(edge.httpsPort, '\0').closed;
    assert.equal(other, '\x15\x03\x03\0\x02\x02\x0a', 'unexpected_message');
    const [nothing, byte, half, whole = ''] = await Promise.all(silent.map(({ closed }) => closed));
    assert.deepEqual([nothing, byte, half], ['', '', '']);
    assert.ok(whole.length > 100, 'the server has said its part');
    assert.deepEqual(await edge.handshakes(), { notTls: 1, timeout: 4 });
  });

  test('a flood of silent connections leaves room for others', async (t) => {
    const edge = await startHttpsEdge(t, undefined, { limits: { maxHandshakes: 20 } });
    const flood = Array.from({ length: 200 }, () => connectRaw(edge.httpsPort));
    await eventually('the oldest are ended', async () => ((await edge.handshakes())['crowded'] ?? 0) >= 180);
    assert.equal((await edge.curl(`https://${SITE_HOST}/`)).status, 200);
    for (const { socket } of flood) socket.destroy();
    await eventually('all are gone', async () => (await edge.handshakes())['failed'] === 19);
  });
});
