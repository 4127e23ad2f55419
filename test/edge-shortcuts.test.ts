/** Answers that are kept ready are those of the pipeline, in every byte, and end when what they depend on changes. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { SiteSpec } from '../src/sites/spec.ts';
import {
  type FetchOptions,
  loopback,
  NO_ORIGINS,
  type Received,
  SITE_HOST,
  startTestEdge,
  type TestEdge,
} from './support/edge.ts';
import { reply, startOrigin } from './support/origin.ts';

const FRESH = { 'cache-control': 'max-age=60', etag: '"1"', 'last-modified': 'Wed, 21 Oct 2015 07:28:00 GMT' };
/** Asks for the same, and is not plain. */
const BESIDE = ['Pragma', 'x'];

interface Case {
  readonly site?: Partial<SiteSpec>;
  readonly origin?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly request?: FetchOptions;
}

async function startCase(t: TestContext, { site = {}, origin: fields = {}, body = 'hello' }: Case) {
  let now = Date.now();
  const origin = await startOrigin(t, reply(body, { ...FRESH, ...fields }));
  const edge = await startTestEdge(t, [origin.port], { clock: () => now });
  const put = (change: Partial<SiteSpec>) =>
    edge.put({ name: SITE_HOST, origins: { ...NO_ORIGINS, primary: loopback([origin.port]) }, ...change });
  put(site);
  return {
    edge,
    origin,
    put,
    advance: (ms: number) => {
      now += ms;
    },
  };
}

async function preparedBy({ registry }: TestEdge): Promise<number> {
  const metric = await registry.getSingleMetric('causeway_edge_prepared_answers_total')?.get();
  return metric?.values[0]?.value ?? 0;
}

/** As clients ask that go on. */
function fetch(edge: TestEdge, path: string, request: FetchOptions = {}): Promise<Received> {
  return edge.get(path, { connection: 'keep-alive', ...request });
}

/** A miss, and a hit that is learned. */
async function learn(edge: TestEdge, path: string, request: FetchOptions = {}): Promise<void> {
  await fetch(edge, path, request);
  assert.equal((await fetch(edge, path, request)).headers['x-cache'], 'HIT');
  assert.equal(await preparedBy(edge), 0);
}

/** Whether the next answer is one that was ready. */
async function isPrepared(edge: TestEdge, path = '/a', request: FetchOptions = {}): Promise<boolean> {
  const before = await preparedBy(edge);
  await fetch(edge, path, request);
  return (await preparedBy(edge)) > before;
}

describe('an answer that is kept ready', () => {
  const cases: readonly (readonly [name: string, Case])[] = [
    ['of a plain site', {}],
    [
      'with every field of a browser',
      {
        request: {
          headers: ['User-Agent', 'B/1', 'Referer', 'https://x.test/', 'Accept-Encoding', 'gzip, br', 'Cookie', 'a=1'],
        },
      },
    ],
    ['with a query', {}],
    ['of several hundred kilobytes', { body: Buffer.alloc(300_000, 'abc') }],
    ['without a body', { body: '' }],
    ['to a client that has it', { request: { headers: ['If-None-Match', 'W/"0", "1"'] } }],
    ['to a client that has it by its date', { request: { headers: ['If-Modified-Since', FRESH['last-modified']] } }],
    [
      'with fields that an origin repeats',
      {
        origin: { via: '1.0 fred', 'x-cache': 'HIT there', 'cache-status': 'other; hit', 'content-type': 'text/plain' },
      },
    ],
    ['where the site says how long browsers keep it', { site: { expiresSeconds: 600 } }],
    [
      'that is compressed',
      {
        site: { pageCompress: true },
        body: 'hello '.repeat(1_000),
        origin: { 'content-type': 'text/html' },
        request: { headers: ['Accept-Encoding', 'br'] },
      },
    ],
    [
      'that is not compressed for this client',
      { site: { pageCompress: true }, body: 'hello '.repeat(1_000), origin: { 'content-type': 'text/html' } },
    ],
    [
      'that varies by coding',
      { origin: { vary: 'Accept-Encoding' }, request: { headers: ['Accept-Encoding', 'gzip'] } },
    ],
    [
      'where rules let the client in',
      {
        site: {
          access: {
            deniedAddresses: ['192.0.2.1'],
            deniedUserAgents: ['*bot*'],
            referer: { mode: 'allow', allowsBlank: true, entries: ['x.test'] },
          },
        },
        request: { headers: ['User-Agent', 'B/1', 'Referer', 'https://x.test/a'] },
      },
    ],
  ] as const;
  for (const [name, one] of cases) {
    test(`${name} is that of the pipeline, in head, body and log`, async (t) => {
      const { edge, advance, origin } = await startCase(t, one);
      const path = '/a/b?x=%20y';
      await learn(edge, path, one.request);
      for (const ms of [0, 1, 999, 5_000]) {
        advance(ms);
        edge.log.length = 0;
        const prepared = await fetch(edge, path, one.request);
        const piped = await fetch(edge, path, {
          ...one.request,
          headers: [...(one.request?.headers ?? []), ...BESIDE],
        });
        assert.deepEqual(prepared, piped);
        const [line, other] = edge.log.map((fields) => fields.filter((_, i) => i !== 3));
        assert.deepEqual(line, other);
        assert.equal(Number(edge.log[1]?.[3]) - Number(edge.log[0]?.[3]), 'Pragma: x\r\n'.length);
      }
      assert.equal(await preparedBy(edge), 4);
      assert.equal(origin.requests.length, 1);
    });
  }

  const ends: readonly (readonly [name: string, end: (started: Awaited<ReturnType<typeof startCase>>) => unknown])[] = [
    ['the site changes', ({ put }) => put({ expiresSeconds: 5 })],
    ['the site is disabled', ({ put }) => put({ state: 'disabled' })],
    [
      'it is purged',
      ({ edge, advance }) => {
        advance(10);
        edge.purge({ kind: 'url', target: `${SITE_HOST}/a` });
        advance(10);
      },
    ],
    ['it is stale', ({ advance }) => advance(60_000)],
    ['the clock is set back to before it was asked for', ({ advance }) => advance(-10_000)],
    [
      'an unsafe request invalidates it',
      ({ edge, advance }) => {
        advance(10);
        return edge.get('/a', { method: 'POST', body: 'x' });
      },
    ],
  ];
  for (const [name, end] of ends) {
    test(`is one no more when ${name}`, async (t) => {
      const started = await startCase(t, {});
      await learn(started.edge, '/a');
      assert.equal(await isPrepared(started.edge), true);
      await end(started);
      assert.equal(await isPrepared(started.edge), false);
    });
  }

  test('is for the same coding, host and target alone, and for who is let in', async (t) => {
    const { edge } = await startCase(t, { site: { access: { deniedUserAgents: ['*bot*'] } } });
    await learn(edge, '/a');
    assert.equal(await isPrepared(edge, '/a', { headers: ['Accept-Encoding', 'br'] }), false);
    assert.equal(await isPrepared(edge, '/a?'), false);
    assert.equal(await isPrepared(edge, '/a', { host: 'other.test' }), false);
    assert.equal(await isPrepared(edge, '/a', { host: `${SITE_HOST.toUpperCase()}:80` }), true);
    assert.equal(await isPrepared(edge, '/a', { headers: ['User-Agent', 'a bot'] }), false);
    assert.equal((await edge.get('/a', { headers: ['User-Agent', 'a bot'] })).status, 403);
    assert.equal(await isPrepared(edge), true);
  });

  for (const [name, request] of [
    ['HEAD', { method: 'HEAD' }],
    ['a range', { headers: ['Range', 'bytes=0-1'] }],
    ['who has another', { headers: ['If-None-Match', '"2"'] }],
    ['who has an older one', { headers: ['If-Modified-Since', 'Wed, 21 Oct 2015 07:27:00 GMT'] }],
    ['what must go to the origin', { headers: ['If-Match', '"1"'] }],
    ['a repeated field', { headers: ['User-Agent', 'a', 'User-Agent', 'b'] }],
  ] as const satisfies readonly (readonly [string, FetchOptions])[]) {
    test(`is none for ${name}`, async (t) => {
      const { edge } = await startCase(t, {});
      await learn(edge, '/a');
      assert.equal(await isPrepared(edge, '/a', request), false);
      assert.equal(await isPrepared(edge), true);
    });
  }

  for (const [name, one] of [
    ['varies by more than the coding', { origin: { vary: 'Cookie' } }],
    ['is well-known', {}],
  ] as const satisfies readonly (readonly [string, Case])[]) {
    test(`is not made of what ${name}`, async (t) => {
      const { edge } = await startCase(t, one);
      const path = name === 'is well-known' ? '/.well-known/x' : '/a';
      await learn(edge, path);
      assert.equal(await isPrepared(edge, path), false);
    });
  }
});
