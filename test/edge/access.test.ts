/** Access rules over sockets: admitted and refused clients, and no refused request reaches an origin. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import type { AccessSpec, PolicySpec } from '../../src/sites/spec.ts';
import { type FetchOptions, loopback, SITE_HOST, type startTestEdge } from '../support/edge/edge.ts';
import { FRESH, reply } from '../support/edge/origin.ts';
import { act, client, gets, miss, origin, type Step, scenario } from '../support/edge/scenario.ts';
import { startSite } from '../support/edge/site.ts';
import { needs } from '../support/runner/needs.ts';

const NOT_FOR_US = ['192.0.2.0/24', '2001:db8::/32'];
const LOOPBACK = ['127.0.0.0/8'];

async function start(t: TestContext, access: AccessSpec, options: Parameters<typeof startTestEdge>[2] = {}) {
  const { edge, origin } = await startSite(t, reply('for friends', FRESH), options);
  edge.put({ name: SITE_HOST, access });
  const mark = async (path: string, headers: readonly string[] = [], more: FetchOptions = {}) =>
    (await edge.get(path, { headers, ...more })).headers['x-cache'];
  return { ...edge, origin, mark };
}

function rules(access: AccessSpec): Step {
  return act(({ edge }) => edge.put({ name: SITE_HOST, access }));
}

describe('rules by address', () => {
  test('an address on the list is refused, for stored objects too, and no origin is asked', async (t) => {
    const { get, put, mark, origin } = await start(t, { deniedAddresses: NOT_FOR_US });
    assert.equal(await mark('/a'), 'MISS');
    put({ name: SITE_HOST, access: { deniedAddresses: [...NOT_FOR_US, ...LOOPBACK] } });
    const { status, headers, body } = await get('/a');
    assert.deepEqual([status, headers['x-cache'], headers['cache-control']], [403, 'DENIED ip', 'no-store']);
    assert.match(body, /ip/);
    assert.equal(origin.requests.length, 1);
  });

  test('address rules match IPv6, and IPv4 as a dual-stack socket shows it', needs('ipv6'), async (t) => {
    const listen = { host: '::', port: 0 };
    const { port, put, mark } = await start(t, { deniedAddresses: ['::1'] }, { listen });
    assert.equal(await mark('/'), 'MISS');
    assert.match(await getOver('::1', port), /^HTTP\/1\.1 403 [\s\S]*\r\nX-Cache: DENIED ip\r\n/i);
    put({ name: SITE_HOST, access: { deniedAddresses: LOOPBACK } });
    assert.equal(await mark('/'), 'DENIED ip');
    assert.match(await getOver('::1', port), /^HTTP\/1\.1 200 /);
  });

  test('address rules use the address that a trusted proxy names, and no other that a client names', async (t) => {
    const access = { deniedAddresses: ['192.0.2.0/24'] };
    const named = ['X-Forwarded-For', '192.0.2.1'];
    assert.equal(await (await start(t, access)).mark('/', named), 'MISS');
    const proxies = { trusted: LOOPBACK, protocol: 'off' } as const;
    assert.equal(await (await start(t, access, { proxies })).mark('/', named), 'DENIED ip');
  });
});

/** What a client with these fields gets of an object that is stored. */
function asks(fields: Readonly<Record<string, string>>, xCache: string): readonly Step[] {
  return [client('GET /', fields), gets(xCache === 'HIT' ? 200 : 403, xCache)];
}

test('Referer rules match the listed pages and pages below them; a blank Referer as the site says', (t) => {
  const entries = ['example.com', '*.example.org'];
  const referers = ['https://example.com/a', 'http://a.b.example.org:8080', 'http://example.org/', 'about:blank'];
  const [refused, listed] = ['DENIED referer', { Referer: 'http://example.com/' }];
  const each = (blank: string, ...marks: readonly string[]) => [
    ...asks({}, blank),
    ...referers.flatMap((Referer, n) => asks({ Referer }, marks[n] ?? '')),
  ];
  return scenario(
    t,
    [
      ...[client('GET /', listed), origin('GET /', reply('for friends', FRESH)), gets(200, 'MISS')],
      each(refused, 'HIT', 'HIT', refused, refused),
      rules({ referer: { mode: 'deny', allowsBlank: true, entries } }),
      each('HIT', refused, refused, 'HIT', 'HIT'),
    ],
    { site: { access: { referer: { mode: 'allow', allowsBlank: false, entries } } } },
  );
});

test('User-Agent rules match parts and patterns, and an absent field', (t) => {
  const [browser, refused] = [{ 'User-Agent': 'Mozilla/5.0' }, 'DENIED userAgent'];
  return scenario(
    t,
    [
      ...[client('GET /', browser), origin('GET /', reply('for friends', FRESH)), gets(200, 'MISS')],
      ...[asks(browser, 'HIT'), asks({ 'User-Agent': 'a Bot/1' }, 'HIT'), asks({}, refused)],
      ...['CURL/8', 'libcurl', 'Bot/1', ''].map((agent) => asks({ 'User-Agent': agent }, refused)),
    ],
    { site: { access: { deniedUserAgents: ['curl', 'bot/*', '^$'] } } },
  );
});

test('the address is checked before the Referer, and that before the User-Agent; the reason is in log and metrics', async (t) => {
  const { put, mark, log, registry } = await start(t, {});
  const third: AccessSpec = { deniedUserAgents: ['curl'] };
  const second: AccessSpec = { ...third, referer: { mode: 'allow', allowsBlank: false, entries: ['example.com'] } };
  const first: AccessSpec = { ...second, deniedAddresses: LOOPBACK };
  const rows = [
    [first, 'ip'],
    [second, 'referer'],
    [third, 'userAgent'],
  ] as const;
  for (const [index, [access, reason]] of rows.entries()) {
    put({ name: SITE_HOST, access });
    assert.equal(await mark('/', ['User-Agent', 'curl']), `DENIED ${reason}`);
    assert.equal(log[index]?.result, 'TCP_DENIED/403');
    const counted = `requests_total{cache="DENIED",reason="${reason}",status="4xx"} 1`;
    assert.ok((await registry.metrics()).includes(counted));
  }
});

test('a second line of a field does not get past a rule about it, nor to an origin', async (t) => {
  const { mark, origin } = await start(t, { deniedUserAgents: ['curl'] });
  for (const name of ['User-Agent', 'Referer', 'Range', 'Authorization']) {
    assert.equal(await mark('/', [name, 'browser', name.toLowerCase(), 'curl']), 'ERROR repeatedField', name);
  }
  assert.equal(origin.requests.length, 0);
});

describe('the refusal by access rules', () => {
  const deniedAddresses = LOOPBACK;

  test("a refusal is the customer's page, without it for a HEAD", async (t) => {
    const html = '<p>Für Freunde</p>';
    const { get } = await start(t, { deniedAddresses, refusal: { kind: 'page', html } });
    const [whole, head] = [await get('/'), await get('/', { method: 'HEAD' })];
    assert.deepEqual([whole.status, Buffer.from(whole.body, 'latin1').toString(), head.body], [403, html, '']);
    for (const { headers } of [whole, head]) {
      assert.deepEqual(
        ['content-type', 'cache-control', 'content-length', 'x-cache'].map((name) => headers[name]),
        ['text/html; charset=utf-8', 'no-store', String(Buffer.byteLength(html)), 'DENIED ip'],
      );
    }
  });

  test('a refusal is a redirect, whose target on the domain itself is open to everyone', (t) => {
    const url = `http://${SITE_HOST}/sorry?lang=de`;
    const redirected = (path: string) => [
      client(`GET ${path}`),
      gets(302, 'DENIED ip', '', { location: url, 'cache-control': 'no-store' }),
    ];
    return scenario(
      t,
      [
        ...[redirected('/a'), miss('GET /sorry?lang=de', reply('for friends', FRESH))],
        ...['/sorry', '/sorry?lang=de&', '/sorry/', '//sorry?lang=de'].map(redirected),
      ],
      { site: { access: { deniedAddresses, refusal: { kind: 'redirect', url } } } },
    );
  });

  test('a refusal applies to a POST, whose body nobody receives', async (t) => {
    const { get, origin } = await start(t, { deniedAddresses });
    const { status } = await get('/', { method: 'POST', body: 'x'.repeat(1000) });
    assert.equal(status, 403);
    assert.equal(origin.requests.length, 0);
  });

  test("a closed domain is not answered with the customer's refusal", (t) =>
    scenario(t, [client('GET /'), gets(403, 'DENIED closed', undefined, { location: undefined })], {
      site: { state: 'closed', access: { refusal: { kind: 'redirect', url: 'http://example.org/' } } },
    }));

  test('the refusal of a wildcard domain applies to every host below it, each with its own redirect target', async (t) => {
    const { get, put, mark, origin } = await start(t, {});
    const url = 'http://help.example.net/';
    const origins = {
      protocol: 'http',
      primary: loopback([origin.port]),
      backup: [],
      hostHeader: '',
      probePath: '',
    } as const;
    put({ name: '*.example.net', origins, access: { deniedAddresses, refusal: { kind: 'redirect', url } } });
    assert.equal((await get('/', { host: 'a.b.example.net' })).headers['location'], url);
    assert.equal(await mark('/', [], { host: 'help.example.net' }), 'MISS');
    assert.equal(await mark('/', [], { host: 'other.example.net' }), 'DENIED ip');
  });
});

test('a pattern that backtracks in other engines costs nothing here; a target beyond 8 KiB is 414', async (t) => {
  const { get, put, mark } = await start(t, {});
  const policies = ['(a+)+$', '(a|aa)+$', '([a-z]+)*!', '(.*a){20}b'].map(
    (content): PolicySpec => ({ match: 'regex', content, priority: 1, isCached: false, lifetimeSeconds: 0 }),
  );
  put({ name: SITE_HOST, caching: { followsOrigin: true, prefixFirst: false, policies } });
  const before = process.cpuUsage();
  assert.equal(await mark(`/${'a'.repeat(8190)}-`), 'MISS');
  assert.equal(await mark(`/${'a'.repeat(8191)}`), 'BYPASS policy');
  // A backtracking engine needs longer than there has been time.
  assert.ok(process.cpuUsage(before).user < 5_000_000);
  const { status, headers } = await get(`/${'a'.repeat(8192)}`);
  assert.deepEqual([status, headers['x-cache']], [414, 'ERROR targetTooLong']);
});

/** The answer as it came. */
async function getOver(host: string, port: number): Promise<string> {
  const socket = connect({ host, port });
  socket.write(`GET / HTTP/1.1\r\nHost: ${SITE_HOST}\r\nConnection: close\r\n\r\n`);
  return await text(socket);
}
