/** Sessions that clients take up again: by another worker, after a restart, under an older secret, and never at another's. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { TicketSecret } from '../../src/edge/transport/tls/ticket-keys.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { type HttpsEdge, startHttpsEdge } from '../support/edge/https-edge.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const secret = (digit: string): TicketSecret => ({ createdAt: 0, secret: digit.repeat(64) });
const OTHER = 'other.example.com';

describe('sessions', needs('openssl'), () => {
  for (const version of ['1_2', '1_3']) {
    /** Whether the session in `from` was taken up; the new one is in `to`. */
    const connect = async (edge: HttpsEdge, name: string, files: { from?: string; to?: string }) => {
      const resume = files.from === undefined ? [] : ['-sess_in', files.from];
      const keep = files.to === undefined ? [] : ['-sess_out', files.to];
      const get = `GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`;
      const said = await edge.sClient(name, [`-tls${version}`, '-ign_eof', ...resume, ...keep], get);
      assert.match(said, /HTTP\/1\.1 200 /);
      return /^Reused, /m.test(said);
    };

    test(`TLS ${version}: any process with the secret resumes a session, also with the secret before`, async (t) => {
      const file = join(temporaryFolder(t), 'session');
      const certificates = { ticketSecrets: [secret('a')] };
      const first = await startHttpsEdge(t, undefined, certificates);
      // Another worker, and one after a restart: the same secret and certificates.
      const second = await startHttpsEdge(t, undefined, certificates);
      second.certificates.set('c1', first.certificates.get('c1') ?? assert.fail());
      assert.equal(await connect(first, SITE_HOST, { to: file }), false);
      assert.equal(await connect(first, SITE_HOST, { from: file }), true);
      assert.equal(await connect(second, SITE_HOST, { from: file }), true);
      assert.deepEqual(await second.handshakes(), { resumed: 1 });
      second.edge.https?.useTicketSecrets([secret('b'), secret('a')]);
      assert.equal(await connect(second, SITE_HOST, { from: file }), true);
      second.edge.https?.useTicketSecrets([secret('c'), secret('b')]);
      assert.equal(await connect(second, SITE_HOST, { from: file }), false);
    });

    test(`TLS ${version}: a session of another certificate, or of the site's earlier one, is not resumed`, async (t) => {
      const file = join(temporaryFolder(t), 'session');
      const edge = await startHttpsEdge(t);
      edge.addCertificate('c2', [OTHER]);
      edge.putTls(OTHER, { certificate: 'c2' });
      edge.addCertificate('both', [SITE_HOST, OTHER]);
      assert.equal(await connect(edge, SITE_HOST, { to: file }), false);
      assert.equal(await connect(edge, OTHER, { from: file }), false);
      assert.equal(await connect(edge, SITE_HOST, { from: file }), true);
      edge.putTls(SITE_HOST, { certificate: 'both' });
      assert.equal(await connect(edge, SITE_HOST, { from: file, to: file }), false);
      // With one certificate for both, the client was shown what it needs to trust the other too.
      edge.putTls(OTHER, { certificate: 'both' });
      assert.equal(await connect(edge, OTHER, { from: file }), true);
      edge.putTls(SITE_HOST, { certificate: 'both', minVersion: '1.3' });
      if (version === '1_3') assert.equal(await connect(edge, SITE_HOST, { from: file }), false);
      edge.certificates.delete('both');
      edge.putTls(OTHER, { certificate: 'both' });
      assert.match(await edge.sClient(OTHER, [`-tls${version}`, '-sess_in', file]), /alert number 112/);
    });
  }
});
