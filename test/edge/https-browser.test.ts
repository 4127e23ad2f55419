/** A browser at the edge: which protocol it speaks, where it is sent, and what it does not trust. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { SITE_HOST } from '../support/edge/edge.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { reply } from '../support/edge/origin.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Says by what it came. */
const PAGE = `<p>empty</p><script>
  const protocol = performance.getEntriesByType('navigation')[0].nextHopProtocol;
  document.querySelector('p').textContent = location.protocol + ' ' + protocol;
</script>`;

test(
  'a browser speaks HTTP/2, follows the redirect to HTTPS, and trusts no other certificate',
  needs('wholeChromium', 'openssl', { timeout: 180_000 }),
  async (t) => {
    const edge = await startHttpsEdge(t, reply(PAGE, { 'content-type': 'text/html', 'cache-control': 'max-age=60' }));
    edge.putTls(SITE_HOST, { forceHttps: true, hstsMaxAgeSeconds: 600 });
    const leaf = new X509Certificate(edge.certificates.get('c1')?.certificate ?? '');
    const key = createHash('sha256')
      .update(leaf.publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64');
    const browse = async (url: string) => {
      const home = temporaryFolder(t);
      const to = `MAP ${SITE_HOST}:80 127.0.0.1:${edge.port}, MAP ${SITE_HOST}:443 127.0.0.1:${edge.httpsPort}`;
      const isolated = [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        `--user-data-dir=${home}`,
        '--disable-dev-shm-usage',
        '--disable-features=HttpsUpgrades',
      ];
      const options = [`--host-resolver-rules=${to}`, `--ignore-certificate-errors-spki-list=${key}`];
      const { stdout } = await promisify(execFile)(
        obtain('wholeChromium'),
        [...isolated, ...options, '--dump-dom', url],
        {
          timeout: 80_000,
        },
      );
      return stdout;
    };
    assert.match(await browse(`http://${SITE_HOST}/`), /<p>https: h2<\/p>/);
    assert.deepEqual(
      edge.log.filter(({ target }) => target === '/').map((fields) => [fields.protocol, fields.result]),
      [
        ['HTTP/1.1', 'NONE/301'],
        ['HTTP/2.0', 'TCP_MISS/200'],
      ],
    );
    edge.addCertificate('c2', [SITE_HOST]);
    edge.putTls(SITE_HOST, { certificate: 'c2' });
    assert.doesNotMatch(await browse(`https://${SITE_HOST}/`), /https: h2/);
  },
);
