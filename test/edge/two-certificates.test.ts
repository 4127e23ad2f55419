/** A site with an RSA certificate beside an ECDSA one: clients of either kind get theirs. docs/decisions/0433 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { SITE_HOST } from '../support/edge/edge.ts';
import { type HttpsEdge, startHttpsEdge } from '../support/edge/https-edge.ts';
import { needs } from '../support/runner/needs.ts';

const GET = `GET / HTTP/1.1\r\nHost: ${SITE_HOST}\r\nConnection: close\r\n\r\n`;
const [ECDSA, RSA] = ['ecdsa', 'rsa'];
const PAIR = { certificate: ECDSA, secondCertificate: RSA };

async function startWithTwo(t: Parameters<typeof startHttpsEdge>[0]): Promise<HttpsEdge> {
  const edge = await startHttpsEdge(t);
  edge.addCertificate(ECDSA, [SITE_HOST, 'a.example.com'], { hasIntermediate: true });
  edge.addCertificate(RSA, [SITE_HOST], { hasIntermediate: true, isRsa: true });
  edge.putTls(SITE_HOST, PAIR);
  return edge;
}

/** Which of them `openssl s_client` is shown, with its chain verified. */
async function shownTo(edge: HttpsEdge, args: readonly string[]): Promise<string | undefined> {
  const said = await edge.sClient(SITE_HOST, [...args, '-showcerts', '-ign_eof'], GET);
  const pem = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/.exec(said)?.[0];
  if (pem === undefined) return undefined;
  assert.match(said, /Verification: OK|Verify return code: 0 \(ok\)/);
  assert.match(said, /HTTP\/1\.1 200 /);
  const { serialNumber } = new X509Certificate(pem);
  const isShown = (key: string) =>
    new X509Certificate(edge.certificates.get(key)?.certificate ?? '').serialNumber === serialNumber;
  return [ECDSA, RSA].filter((key) => edge.certificates.has(key)).find(isShown);
}

describe('two certificates', needs('openssl', 'curl'), () => {
  test('one of two certificates is chosen by the signature algorithms and ciphers of the client', async (t) => {
    const edge = await startWithTwo(t);
    for (const [args, expected] of [
      [[], ECDSA],
      [['-sigalgs', 'ECDSA+SHA256'], ECDSA],
      [['-sigalgs', 'RSA-PSS+SHA256:RSA+SHA256'], RSA],
      [['-sigalgs', 'RSA-PSS+SHA256:RSA+SHA256:ECDSA+SHA256'], RSA],
      [['-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-GCM-SHA256'], ECDSA],
      [['-tls1_2', '-cipher', 'ECDHE-RSA-AES128-GCM-SHA256'], RSA],
      [['-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256'], ECDSA],
      [['-tls1_2', '-sigalgs', 'RSA+SHA256'], RSA],
      [['-tls1_2', '-sigalgs', 'ECDSA+SHA384', '-cipher', 'ECDHE-RSA-AES128-GCM-SHA256'], undefined],
    ] as const) {
      assert.equal(await shownTo(edge, args), expected, args.join(' '));
    }
    for (const cipher of ['ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384']) {
      const got = await edge.curl(`https://${SITE_HOST}/`, '--tls-max', '1.2', '--ciphers', cipher);
      assert.equal(got.status, 200, cipher);
    }
    edge.putTls(SITE_HOST, { certificate: RSA, secondCertificate: ECDSA, minVersion: '1.3' });
    assert.equal(await shownTo(edge, ['-sigalgs', 'ECDSA+SHA256']), ECDSA, 'their order does not matter');
  });

  test('two certificates cover the names of both, and one serves alone while the other is missing or damaged', async (t) => {
    const edge = await startWithTwo(t);
    edge.putTls('a.example.com', PAIR);
    assert.equal((await edge.curl('https://a.example.com/')).exitCode, 35);
    const pair = edge.certificates.get(RSA) ?? { certificate: '', key: '' };
    const anew = async (change: () => void) => {
      change();
      edge.edge.https?.forget(undefined);
      return [await shownTo(edge, ['-sigalgs', 'ECDSA+SHA256']), await shownTo(edge, ['-sigalgs', 'RSA-PSS+SHA256'])];
    };
    assert.deepEqual(await anew(() => edge.certificates.delete(RSA)), [ECDSA, undefined]);
    assert.deepEqual(await anew(() => edge.certificates.set(RSA, pair)), [ECDSA, RSA]);
    assert.deepEqual(await anew(() => edge.certificates.set(RSA, { ...pair, key: '' })), [ECDSA, undefined]);
    assert.deepEqual(await anew(() => edge.certificates.set(RSA, pair)), [ECDSA, RSA]);
    assert.deepEqual(await anew(() => edge.certificates.delete(ECDSA)), [undefined, RSA]);
  });

  test('two certificates share their sessions, and their connections only with sites that have both', async (t) => {
    const edge = await startWithTwo(t);
    for (const key of [ECDSA, RSA]) {
      const names = [SITE_HOST, 'b.example.com', 'c.example.com'];
      edge.addCertificate(key, names, { isRsa: key === RSA });
    }
    edge.edge.https?.forget([SITE_HOST]);
    edge.putTls('b.example.com', PAIR);
    edge.putTls('c.example.com', { certificate: ECDSA });
    const requests = ['b.example.com', 'c.example.com'].map((host) => `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const said = await edge.sClient(SITE_HOST, ['-ign_eof', '-quiet'], `${requests.join('')}${GET}`);
    assert.deepEqual(
      [...said.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status),
      ['200', '421', '200'],
    );
    for (const kind of ['ECDSA+SHA256', 'RSA-PSS+SHA256']) {
      const again = await edge.sClient(SITE_HOST, ['-tls1_2', '-sigalgs', kind, '-reconnect']);
      assert.equal([...again.matchAll(/^Reused, /gm)].length, 5, kind);
    }
  });
});
