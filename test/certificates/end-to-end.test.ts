/** The way from a customer's call to the certificate that curl sees: bound, replaced and removed, wherever its name reaches. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createClient } from '#client/client.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { startService } from '../support/process/service.ts';
import { untilInForce } from '../support/process/service-with-domain.ts';
import { needs, obtain } from '../support/runner/needs.ts';

const run = promisify(execFile);
const NEEDS = needs('openssl', 'curl');

test('viewers are shown the certificate that the customer bound, and only under its names', NEEDS, async (t) => {
  const origin = await startOrigin(t, reply('hello', { 'content-type': 'text/plain' }));
  const service = await startService(t, {
    settings: { CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8', CAUSEWAY_EDGE_WORKERS: '2' },
  });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token, locale: 'en' });
  const authority = createAuthority(t);
  const [edge, plain] = [new URL(service.edgeHttpsUrl).port, new URL(service.edgeUrl).port];

  /** Status, protocol and body, or why there was none. */
  const get = async (host: string, ...args: readonly string[]) => {
    const [scheme, port] = args.includes('--plain') ? ['http', plain] : ['https', edge];
    const rest = args.filter((arg) => arg !== '--plain');
    const form = ['-sS', '-o', '-', '-w', ' %{http_code} %{http_version}', '--cacert', authority.caFile];
    const url = `${scheme}://${host}:${port}/`;
    try {
      return (await run(obtain('curl'), [...form, '--resolve', `${host}:${port}:127.0.0.1`, ...rest, url])).stdout;
    } catch (error) {
      return error instanceof Error && 'code' in error ? `curl ends with ${error.code}` : String(error);
    }
  };
  /** The serial number that is shown for a name. */
  const serialOf = async (host: string) => {
    const { stdout } = await run('sh', [
      '-c',
      `openssl s_client -connect 127.0.0.1:${edge} -servername ${host} </dev/null 2>/dev/null`,
    ]).catch(() => ({ stdout: '' }));
    const pem = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/.exec(stdout)?.[0];
    return pem && new X509Certificate(pem).serialNumber;
  };
  const add = async (names: readonly string[]) => {
    const { key, cert } = authority.issue(names, { hasIntermediate: true });
    const [leaf = '', intermediate = ''] = cert.match(/-----BEGIN[\s\S]*?-----END CERTIFICATE-----\n/g) ?? [];
    const certificate = `${authority.ca}${intermediate}${leaf}`.replaceAll('\n', '\r\n');
    const { ssl_key } = await client.call('certificate.add', { ssl_title: 'one', private_key: key, certificate });
    return { ssl_key, serial: new X509Certificate(leaf).serialNumber };
  };
  const addDomain = async (domain: string) =>
    (await client.call('domain.add', { domain, cdn_type: '1', data: `127.0.0.1:${origin.port}` })).domain_id;
  const inForce = (domain_id: string) => untilInForce({ client, domain_id });

  const [www, wild] = [await addDomain('www.example.com'), await addDomain('*.example.net')];
  const [first, second] = [await add(['www.example.com']), await add(['www.example.com'])];
  const any = await add(['*.example.net']);
  await inForce(www);
  assert.match(await get('www.example.com'), /^curl ends with 35$/, 'no certificate, no handshake');
  await client.call('config.setSsl', { domain_id: www, ssl_control: 1, ssl_key: first.ssl_key });
  await client.call('config.setSsl', { domain_id: wild, ssl_control: 1, ssl_key: any.ssl_key });
  await Promise.all([inForce(www), inForce(wild)]);
  assert.equal(await get('www.example.com'), 'hello 200 2');
  assert.equal(await get('www.example.com', '--http1.1'), 'hello 200 1.1');
  assert.equal(await serialOf('www.example.com'), first.serial);
  assert.equal(await get('a.example.net'), 'hello 200 2');
  assert.match(await get('b.a.example.net'), /^curl ends with 35$/, 'a wildcard covers one label');
  assert.equal(await get('b.a.example.net', '--plain'), 'hello 200 1.1');

  await client.call('config.setSsl', {
    domain_id: www,
    ssl_control: 1,
    ssl_key: second.ssl_key,
    force_https: 1,
    hsts_max_age: 300,
  });
  await inForce(www);
  assert.equal(await serialOf('www.example.com'), second.serial);
  assert.equal(await client.call('certificate.delete', { ssl_key: first.ssl_key }), true);
  assert.match(await get('www.example.com', '-i'), /^strict-transport-security: max-age=300\r$/im);
  assert.match(await get('www.example.com', '--plain', '-i'), /^location: https:\/\/www\.example\.com/im);

  await client.call('config.setSsl', { domain_id: www, ssl_control: 0 });
  await inForce(www);
  assert.match(await get('www.example.com'), /^curl ends with 35$/);
  assert.equal(await get('www.example.com', '--plain'), 'hello 200 1.1');
  await client.call('domain.delete', { domain_id: wild });
  await eventually('its name is gone', async () => /^curl ends with 35$/.test(await get('a.example.net')));
  const left = await client.call('certificate.list', {});
  assert.deepEqual(
    left.map(({ status }) => status),
    ['Unused', 'Unused'],
  );
});
