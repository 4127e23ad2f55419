/** HTTPS of the whole service, from an added certificate to a viewer: two workers, sessions that outlive a restart, and what is on the disk. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { createClient } from '#client/client.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { runSClient } from '../support/edge/https-edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningService, startService } from '../support/process/service.ts';
import { untilInForce } from '../support/process/service-with-domain.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const HOST = 'www.example.com';
const GET = `GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`;
const NEEDS = needs('openssl', 'curl', { timeout: 180_000 });

test(
  'a certificate serves; sessions go on at the other worker and after a restart; none of 1,000 handshakes fails while it is replaced',
  NEEDS,
  async (t) => {
    const authority = createAuthority(t);
    const origin = await startOrigin(t, reply('hello', { 'cache-control': 'max-age=60' }));
    const settings = { CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8', CAUSEWAY_EDGE_WORKERS: '2' };
    const first = await startService(t, { settings });
    const client = createClient({ baseUrl: first.controlUrl, accessToken: first.token });
    const { domain_id } = await client.call('domain.add', {
      domain: HOST,
      cdn_type: '1',
      data: `127.0.0.1:${origin.port}`,
      source_type: 'http',
    });
    const { key, cert } = authority.issue([HOST]);
    const { ssl_key } = await client.call('certificate.add', {
      ssl_title: 'test',
      certificate: cert,
      private_key: key,
    });
    await client.call('config.setSsl', { domain_id, ssl_control: '1', ssl_key, force_https: '1' });
    const portOf = (service: RunningService) => new URL(service.edgeHttpsUrl).port;
    const ask = async (service: RunningService, ...args: readonly string[]) => {
      const to = ['--cacert', authority.caFile, '--connect-to', `${HOST}:443:127.0.0.1:${portOf(service)}`];
      const { stdout } = await promisify(execFile)(obtain('curl'), ['-sS', '-i', ...to, ...args, `https://${HOST}/`]);
      return stdout;
    };
    await untilInForce({ client, domain_id });
    assert.match(await ask(first), /^HTTP\/2 200[\s\S]*hello$/);

    const session = join(temporaryFolder(t), 'session');
    const resumes = async (service: RunningService, ...args: readonly string[]) => {
      const to = ['-connect', `127.0.0.1:${portOf(service)}`, '-servername', HOST, '-CAfile', authority.caFile];
      const said = await runSClient([...to, '-ign_eof', ...args], GET);
      assert.match(said, /HTTP\/1\.1 200 /);
      return /^Reused, /m.test(said);
    };
    assert.equal(await resumes(first, '-sess_out', session), false);
    // Which worker takes a connection is the kernel's choice: of eight both had some, nearly always.
    for (let i = 0; i < 8; i++) assert.equal(await resumes(first, '-sess_in', session), true);
    const secrets = join(first.dataDir, 'edge', 'ticket-secrets');
    assert.equal(statSync(secrets).mode & 0o777, 0o600);
    const kept = readFileSync(secrets, 'utf8');
    await first.stop();

    const second = await startService(t, { settings, dataDir: first.dataDir });
    assert.equal(readFileSync(secrets, 'utf8'), kept);
    assert.equal(await resumes(second, '-sess_in', session), true);
    assert.match(await ask(second, '--http1.1'), /^HTTP\/1\.1 200 [\s\S]*hello$/);

    const api = createClient({ baseUrl: second.controlUrl, accessToken: first.token });
    const other = authority.issue([HOST]);
    const added = { ssl_title: 'other', certificate: other.cert, private_key: other.key };
    const keys = [ssl_key, (await api.call('certificate.add', added)).ssl_key];
    const fingerprints = [cert, other.cert].map((pem) => new X509Certificate(pem).fingerprint256);
    const replace = async (count: number) => {
      await api.call('config.setSsl', { domain_id, ssl_control: '1', ssl_key: keys[count % 2] });
      return fingerprints[count % 2];
    };
    const { shown, begun, failures } = await shakeHands(Number(portOf(second)), authority.ca, replace);
    assert.deepEqual([failures, shown.size], [[], 2]);
    assert.ok(begun >= HANDSHAKES, `${begun}`);
  },
);

const HANDSHAKES = 1_000;
const REPLACEMENTS = 20;
const HANDSHAKES_BETWEEN = HANDSHAKES / REPLACEMENTS;
const AT_ONCE = 8;

/** Many handshakes, while the certificate is replaced again and again. `replace` gives the fingerprint that is to be shown then. */
async function shakeHands(port: number, ca: string, replace: (count: number) => Promise<string | undefined>) {
  const [shown, failures] = [new Set<string>(), [] as string[]];
  let begun = 0;
  let last = '';
  let isReplacing = true;
  const shake = async () => {
    while (isReplacing) {
      begun++;
      const socket = connect({ port, host: '127.0.0.1', servername: HOST, ca });
      try {
        await once(socket, 'secureConnect');
        last = socket.getPeerCertificate().fingerprint256;
        shown.add(last);
      } catch (error) {
        failures.push(String(error));
      }
      socket.destroy();
    }
  };
  const shaking = Promise.all(Array.from({ length: AT_ONCE }, shake));
  for (let count = 1; count <= REPLACEMENTS; count++) {
    const wanted = await replace(count);
    const next = begun + HANDSHAKES_BETWEEN;
    await eventually('some more, and the other is shown', () => begun >= next && last === wanted);
  }
  isReplacing = false;
  await shaking;
  return { shown, begun, failures };
}
