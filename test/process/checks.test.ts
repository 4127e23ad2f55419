/** `domain.check` and `domain.explain` of a running service: names by Knot, origins by the edge's guard. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { ClientError } from '#client/client-error.ts';
import { startKnot } from '../support/api/knot.ts';
import { fetchFrom } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { runCommand } from '../support/process/service.ts';
import { addDomain, startWithDomain } from '../support/process/service-with-domain.ts';
import { needs } from '../support/runner/needs.ts';

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => (error instanceof ClientError ? error.code : String(error)),
  );

test(
  'a domain is checked by name, certificate, origin and first request, once in five seconds',
  needs('knot'),
  async (t) => {
    const resolver = await startKnot(t, {
      'example.com': ['www CNAME www.example.com.cdn.localhost.', 'blocked A 192.0.2.9'],
      'cdn.localhost': ['www.example.com A 198.51.100.7'],
    });
    const origin = await startOrigin(t, reply('x', { 'cache-control': 'max-age=60' }));
    const forbidden = await startOrigin(t, reply('x'), { host: '127.0.0.2' });
    const { service, client, domain_id, edgePort } = await startWithDomain(t, origin.port, {
      CAUSEWAY_CHECK_RESOLVERS: resolver,
      CAUSEWAY_ORIGIN_ALLOW: '127.0.0.1/32',
      CAUSEWAY_STAT_SECONDS: '1',
    });
    const { connect_ms, ...asked } = (await client.call('domain.check', { domain_id })).origin;
    assert.ok(connect_ms >= 0);
    assert.deepEqual(asked, {
      ...{ origin: `127.0.0.1:${origin.port}`, address: '127.0.0.1', tls: '', status: 200, cacheable: '1', why: '' },
    });
    assert.deepEqual(
      origin.requests.map(({ target, headers }) => [target, headers['host']]),
      [['/', 'www.example.com']],
    );
    assert.match(String(origin.requests[0]?.headers['cdn-loop']), /^causeway-[0-9a-f]{8}$/);
    assert.equal(await codeOf(client.call('domain.check', { domain_id })), 'checkTooSoon');

    const other = await addDomain(service, `127.0.0.2:${forbidden.port}`, { domain: 'blocked.example.com' });
    const blocked = await client.call('domain.check', { domain_id: other.domain_id });
    assert.deepEqual(
      [blocked.dns.state, blocked.dns.found, blocked.origin.address, blocked.origin.why, blocked.certificate.state],
      ['elsewhere', ['192.0.2.9'], '', 'originForbidden', 'off'],
    );
    assert.equal(forbidden.connections(), 0);

    await fetchFrom(edgePort, '/a');
    const shown = await eventually('the command shows the first request', async () => {
      const args = ['domain', 'check', 'www.example.com', '--data-dir', service.dataDir];
      const { stdout } = await runCommand(t, args);
      return /^first request +in the hour/m.test(stdout) && stdout;
    });
    assert.match(shown, /^name +points here$/m);
    assert.match(shown, /^found +www\.example\.com\.cdn\.localhost, 198\.51\.100\.7$/m);
    assert.match(
      shown,
      new RegExp(`^origin +127\\.0\\.0\\.1:${origin.port}, 127\\.0\\.0\\.1 in \\d+ ms, status 200, cacheable$`, 'm'),
    );
  },
);

test('an explanation comes from an edge, with its origins and without what belongs to others', async (t) => {
  const origin = await startOrigin(t, reply('x', { 'cache-control': 'max-age=60' }));
  const { service, client, domain_id, edgePort } = await startWithDomain(t, origin.port);
  await addDomain(service, origin.port, { domain: 'other.example.com' });
  const explain = (request: Partial<Parameters<typeof client.call<'domain.explain'>>[1]> = {}) =>
    client.call('domain.explain', { domain_id, url: 'http://www.example.com/a?b', ...request });
  const miss = await explain({ headers: ['X-A: 1'], client: '198.51.100.9' });
  assert.deepEqual(miss.steps[0], { stage: 'request', found: 'GET http://www.example.com/a?b from 198.51.100.9' });
  assert.deepEqual(
    [miss.x_cache, miss.asks_origin, miss.origins],
    ['MISS', '1', [{ origin: `127.0.0.1:${origin.port}`, state: 'usable' }]],
  );
  await fetchFrom(edgePort, '/a?b');
  assert.deepEqual([(await explain()).x_cache, origin.requests.length], ['HIT', 1]);
  assert.match((await explain({ method: 'POST' })).x_cache, /^BYPASS/);
  const long = await explain({ url: `http://www.example.com/${'a'.repeat(2000)}` });
  assert.ok(
    long.steps.some(({ found }) => found.endsWith('…')),
    'long findings are cut',
  );
  const many = await addDomain(service, origin.port, { domain: 'many.example.com' });
  const data = Array.from(
    { length: 50 },
    (_, n) => `o${n}.${'x'.repeat(60)}.${'y'.repeat(60)}.${'z'.repeat(60)}.example`,
  );
  await client.call('domain.updateOrigin', { domain_id: many.domain_id, data });
  const inMany = await eventually('the edge has its origins', async () => {
    const request = { domain_id: many.domain_id, url: `http://many.example.com/?${'"'.repeat(1000)}` };
    const explained = await client.call('domain.explain', request);
    return explained.origins[0]?.origin.startsWith('o0.') === true && explained;
  });
  assert.ok(inMany.origins.length > 5 && inMany.steps.length > 3, 'as much as fits into an answer');

  // Nobody's health page, though the client would be allowed to see it.
  const health = await explain({ url: 'http://www.example.com/.well-known/causeway/health', client: '127.0.0.1' });
  assert.doesNotMatch(JSON.stringify(health.steps), /health of this edge/);

  const rows: readonly (readonly [Parameters<typeof explain>[0], RegExp])[] = [
    [{ url: 'http://other.example.com/' }, /^field url is invalid: expected a URL of the domain www\.example\.com/],
    [{ url: 'www.example.com' }, /^field url is invalid/],
    [
      { headers: ['Host: other.example.com'] },
      /^field headers\[0\] is invalid: expected a header field other than Host, such as/,
    ],
    [{ headers: ['oops'] }, /^field headers\[0\]/],
    [{ client: '10.1.1.999' }, /^field client is invalid: expected the client's IP address/],
    [{ method: 'get' }, /^field method is invalid/],
    [{ headers: Array(20).fill(`X: ${'"'.repeat(250)}`) }, /^field headers is invalid: expected at most 6500 bytes/],
    [{ url: `http://www.example.com/${'\u0001'.repeat(1500)}` }, /^field url is invalid: expected at most 6500 bytes/],
  ];
  const english = createClient({ baseUrl: service.controlUrl, accessToken: service.token, locale: 'en' });
  for (const [request, expected] of rows) {
    const call = english.call('domain.explain', { domain_id, url: 'http://www.example.com/', ...request });
    await assert.rejects(call, { message: expected });
  }
  const tried = await explain({ set: { ip: { ip_type: '1', ip_str: '198.51.100.9' } }, client: '198.51.100.9' });
  assert.deepEqual([tried.x_cache, tried.settings], ['DENIED ip', 'given']);
  const asBefore = await explain({ client: '198.51.100.9' });
  assert.deepEqual([asBefore.x_cache, asBefore.settings], ['HIT', 'stored']);
  assert.equal((await client.call('config.getIp', { domain_id })).ip_type, 0);
  process.kill(service.pids()['edge-feed'] ?? 0, 'SIGSTOP');
  assert.equal(await codeOf(explain()), 'edgeSilent');
  process.kill(service.pids()['edge-feed'] ?? 0, 'SIGCONT');
});
