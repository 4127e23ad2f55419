/** Signed URLs over sockets: requests that are let in, and what the cache, the origin and the log see of a signature. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { SigningSpec } from '../../src/sites/spec.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { FRESH, reply } from '../support/edge/origin.ts';
import { startCase, type Version } from '../support/edge/shortcuts.ts';
import { startSite } from '../support/edge/site.ts';
import { needs } from '../support/runner/needs.ts';

const [PRIMARY, SECONDARY] = ['aliyuncdnexp1234', 'anotherkey567890123'];
const ALL: SigningSpec = { validSeconds: 0, paths: [] };
const START = 1_700_000_000_000;

/** Signs as Aliyun's documents say, by another way than the code. */
function sign(path: string, { key = PRIMARY, at = START / 1000 + 60, random = '0', uid = '0' } = {}): string {
  const hash = createHash('md5').update(`${path}-${at}-${random}-${uid}-${key}`).digest('hex');
  return `auth_key=${at}-${random}-${uid}-${hash}`;
}

async function start(t: TestContext, signing: SigningSpec, urlKeys: readonly string[] = [PRIMARY, SECONDARY]) {
  let now = START;
  const { edge, origin } = await startSite(t, reply('secret', FRESH), { site: { signing }, urlKeys, clock: () => now });
  const mark = async (target: string, headers: readonly string[] = []) =>
    (await edge.get(target, { headers })).headers['x-cache'];
  return { edge, origin, mark, setTime: (ms: number) => (now = ms) };
}

test('the example of Aliyun is signed as there', () => {
  const path = '/video/standard/1K.html'; // of its documents, with the key `aliyuncdnexp1234`
  assert.equal(sign(path, { at: 1_444_435_200 }), 'auth_key=1444435200-0-0-80cd3862d699b7118eed99103f2a3a4f');
});

test('a URL needs a signature of its path by one of the keys, and one viewer has another', async (t) => {
  const { mark, edge, origin } = await start(t, ALL);
  assert.equal(await mark(`/a?${sign('/a')}`), 'MISS');
  assert.equal(await mark(`/a?${sign('/a', { key: SECONDARY, random: 'x1', uid: '7' })}`), 'HIT');
  assert.equal(await mark(`/a?${sign('/a')}&v=1`), 'MISS');
  assert.equal(await mark(`/a?v=1&${sign('/a', { uid: '9' })}`), 'HIT');
  assert.deepEqual(
    origin.requests.map(({ target }) => target),
    ['/a', '/a?v=1'],
  );
  const refused = [
    '/a',
    '/a?auth_key=',
    '/a?auth_key=1-0-0-0',
    `/b?${sign('/a')}`,
    `/a?${sign('/a', { key: 'x'.repeat(16) })}`,
  ];
  for (const target of [...refused, `/a?${sign('/a').slice(0, -1)}`, `/a?x=%00&${sign('/A')}`])
    assert.equal(await mark(target), 'DENIED signature', target);
  const { status, headers, body } = await edge.get('/a');
  assert.deepEqual([status, headers['cache-control']], [403, 'no-store']);
  assert.match(body, /signature/);
});

test('a URL is valid until its timestamp and the time that the domain adds', async (t) => {
  const { mark, edge, setTime } = await start(t, ALL);
  const target = `/a?${sign('/a', { at: START / 1000 + 60 })}`;
  assert.equal(await mark(target), 'MISS');
  setTime(START + 59_999);
  assert.equal(await mark(target), 'HIT');
  setTime(START + 60_000);
  assert.equal(await mark(target), 'DENIED expired');
  edge.put({ name: SITE_HOST, signing: { ...ALL, validSeconds: 1800 } });
  assert.notEqual(await mark(target), 'DENIED expired');
  setTime(START + 60_000 + 1_800_000);
  assert.equal(await mark(target), 'DENIED expired');
});

test('only the paths of the rules need a signature, in every reading that an origin may have', async (t) => {
  const paths = [{ match: 'prefix', content: '/vod/' } as const, { match: 'suffix', content: 'm3u8' } as const];
  const { mark } = await start(t, { validSeconds: 0, paths });
  assert.deepEqual([await mark('/free/a.ts'), await mark('/free/a.ts')], ['MISS', 'HIT']);
  for (const target of [
    '/vod/a',
    '/%76od/a',
    '//vod/a',
    '/x/../vod/a',
    '/x/..%2Fvod/a',
    '/vod/../a',
    '/a.M3U8',
    '/a%2Fb',
  ])
    assert.equal(await mark(target), 'DENIED signature', target);
  assert.equal(await mark(`//vod/a?${sign('//vod/a')}`), 'MISS');
  assert.equal(await mark(`/vod/%7Ea?${sign('/vod/%7Ea')}`), 'MISS', 'the path is signed as it is written');
  assert.equal(await mark(`/vod/~a?${sign('/vod/~a')}`), 'HIT');
});

test('a domain without a key lets nothing in', async (t) => {
  const { mark } = await start(t, ALL, []);
  assert.equal(await mark(`/a?${sign('/a', { key: '' })}`), 'DENIED signature');
});

test('the redirect of refused clients is let in without a signature, and force_https keeps the signature', async (t) => {
  const { edge, mark } = await start(t, ALL);
  const refusal = { kind: 'redirect', url: `http://${SITE_HOST}/sorry` } as const;
  edge.put({ name: SITE_HOST, access: { refusal } });
  const refused = await edge.get('/a');
  assert.deepEqual([refused.status, refused.headers['location']], [302, refusal.url]);
  assert.equal(await mark('/sorry'), 'MISS');
  assert.equal(await mark('/x/../sorry'), 'DENIED signature');
  edge.put({ name: SITE_HOST, tls: { certificate: 'c1', forceHttps: true } });
  const target = `/a?${sign('/a')}`;
  assert.equal((await edge.get(target)).headers['location'], `https://${SITE_HOST}${target}`);
});

for (const [version, options] of [
  ['HTTP/1.1', {}],
  ['HTTP/2', needs('openssl')],
] as readonly (readonly [Version, object])[]) {
  test(`nothing is kept ready over ${version} that would outlive a signature`, options, async (t) => {
    const at = Math.ceil(Date.now() / 1000) + 100;
    const { edge, fetch, isPrepared, advance } = await startCase(t, version, {
      urlKeys: [PRIMARY],
      site: { signing: ALL },
    });
    const target = `/a?${sign('/a', { at })}`;
    for (let i = 0; i < 3; i++) await fetch(target);
    assert.equal((await fetch(target)).headers['x-cache'], 'HIT');
    assert.equal(await isPrepared(target), false);
    advance(101_000);
    assert.equal((await fetch(target)).headers['x-cache'], 'DENIED expired');
    edge.put({ name: SITE_HOST, signing: { ...ALL, paths: [{ match: 'prefix', content: '/other' }] } });
    assert.notEqual((await fetch(target)).status, 403);
  });
}

test('neither the log nor a Referer in it has a signature', async (t) => {
  const { edge } = await start(t, { ...ALL, paths: [{ match: 'suffix', content: 'm3u8' }] });
  const signed = `/a.m3u8?${sign('/a.m3u8')}`;
  await edge.get(signed);
  for (let i = 0; i < 3; i++) await edge.get('/a.ts', { headers: ['Referer', `http://${SITE_HOST}${signed}`] });
  const lines = JSON.stringify(edge.log);
  assert.match(lines, /auth_key=\*\*\*/);
  assert.doesNotMatch(lines, /auth_key=1/);
});

test('explain says whether a signature is needed and why it is refused', async (t) => {
  const { edge } = await start(t, { ...ALL, paths: [{ match: 'prefix', content: '/vod/' }] });
  const explain = async (target: string) => {
    const question = {
      method: 'GET',
      scheme: 'http',
      host: SITE_HOST,
      headers: [],
      clientAddress: '127.0.0.1',
    } as const;
    const { steps, xCache } = await edge.edge.explain({ ...question, target });
    return [
      xCache,
      steps.find(({ stage }) => stage === 'signature')?.found,
      steps.find(({ stage }) => stage === 'key')?.found,
    ];
  };
  assert.deepEqual(await explain('/vod/a'), ['DENIED signature', 'refused: signature', undefined]);
  assert.deepEqual(await explain('/a'), ['MISS', 'none is needed', `1  ${SITE_HOST} /a`]);
  assert.deepEqual(await explain(`/vod/a?${sign('/vod/a')}`), ['MISS', 'valid', `1  ${SITE_HOST} /vod/a`]);
});
