/** HTTPS of the whole service, from an added certificate to a viewer: two workers, sessions that outlive a restart, and what is on the disk. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { createClient } from '#client/client.ts';
import { createAuthority } from './support/certificate.ts';
import { eventually } from './support/eventually.ts';
import { runSClient } from './support/https-edge.ts';
import { needsProgram } from './support/needs.ts';
import { reply, startOrigin } from './support/origin.ts';
import { type RunningService, startService } from './support/service.ts';
import { temporaryFolder } from './support/temporary.ts';

const HOST = 'www.example.com';
const GET = `GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`;
const NEEDS = { ...needsProgram('openssl'), ...needsProgram('curl'), timeout: 90_000 };

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
      const { stdout } = await promisify(execFile)('curl', ['-sS', '-i', ...to, ...args, `https://${HOST}/`]);
      return stdout;
    };
    assert.match(await eventually('it serves', () => ask(first)), /^HTTP\/2 200[\s\S]*hello$/);

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
    const replace = (count: number) =>
      api.call('config.setSsl', { domain_id, ssl_control: '1', ssl_key: keys[count % 2] });
    const { shown, replaced, failures } = await shakeHands(Number(portOf(second)), authority.ca, replace);
    assert.deepEqual([failures, shown.size], [[], 2], `replaced ${replaced} times`);
    assert.ok(replaced > 10, `${replaced}`);
  },
);

const HANDSHAKES = 1_000;
const HANDSHAKES_BETWEEN = 20;
const AT_ONCE = 8;

/** Many handshakes, while the certificate is replaced again and again. */
async function shakeHands(port: number, ca: string, replace: (count: number) => Promise<unknown>) {
  const [shown, failures] = [new Set<string>(), [] as string[]];
  let [begun, replaced] = [0, 0];
  const shake = async () => {
    while (begun++ < HANDSHAKES) {
      const socket = connect({ port, host: '127.0.0.1', servername: HOST, ca });
      try {
        await once(socket, 'secureConnect');
        shown.add(socket.getPeerCertificate().fingerprint256);
      } catch (error) {
        failures.push(String(error));
      }
      socket.destroy();
    }
  };
  const shaking = Promise.all(Array.from({ length: AT_ONCE }, shake));
  while (begun < HANDSHAKES) {
    await replace(++replaced);
    // As the interface bounds how often it is asked.
    const next = Math.min(begun + HANDSHAKES_BETWEEN, HANDSHAKES);
    await eventually('some more', () => begun >= next);
  }
  await shaking;
  return { shown, replaced, failures };
}
