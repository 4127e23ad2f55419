/** Answers that are kept ready, over both versions of HTTP: what a test asks, and whether it was ready. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { SiteSpec } from '../../../src/sites/spec.ts';
import {
  type FetchOptions,
  loopback,
  type Received,
  SITE_HOST,
  startTestEdge,
  type TestEdge,
  type TestEdgeOptions,
} from './edge.ts';
import { fetchOver, open } from './http2-client.ts';
import { startHttpsEdge } from './https-edge.ts';
import { type Answer, reply, type ScriptedOrigin, startOrigin } from './origin.ts';

export type Version = 'HTTP/1.1' | 'HTTP/2';

const FRESH = { 'cache-control': 'max-age=60', etag: '"1"', 'last-modified': 'Wed, 21 Oct 2015 07:28:00 GMT' };

export interface Case {
  readonly site?: Partial<SiteSpec>;
  /** Keys of signed URLs. */
  readonly urlKeys?: readonly string[];
  /** Lists of addresses by their keys. */
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  readonly origin?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly request?: FetchOptions;
}

export interface StartedCase {
  readonly edge: TestEdge;
  readonly origin: ScriptedOrigin;
  put(change: Partial<SiteSpec>): void;
  advance(ms: number): void;
  /** Fetches over a connection that stays open. */
  fetch(path: string, request?: FetchOptions): Promise<Received>;
  /** A miss, and a hit that is learned. */
  learn(path: string, request?: FetchOptions): Promise<void>;
  /** How many answers were ready. */
  prepared(): Promise<number>;
  /** Whether the next answer is one that was ready. */
  isPrepared(path?: string, request?: FetchOptions): Promise<boolean>;
}

/** Starts a case; over HTTP/2, declare it with `needs('openssl')`. */
export async function startCase(t: TestContext, version: Version, one: Case = {}): Promise<StartedCase> {
  let now = Date.now();
  const script = reply(one.body ?? 'hello', { ...FRESH, ...one.origin });
  const options = { clock: () => now, ...(one.urlKeys !== undefined && { urlKeys: one.urlKeys }) };
  const { edge, origin, fetch } =
    version === 'HTTP/2' ? await startOverTls(t, script, options) : await startPlain(t, script, options);
  const put: StartedCase['put'] = (change) => edge.put({ name: SITE_HOST, ...change });
  for (const [key, entries] of Object.entries(one.lists ?? {})) edge.putList(key, entries);
  put(one.site ?? {});
  const prepared = async () => {
    const metric = await edge.registry.getSingleMetric('causeway_edge_prepared_answers_total')?.get();
    return metric?.values[0]?.value ?? 0;
  };
  return {
    edge,
    origin,
    put,
    prepared,
    fetch,
    advance: (ms) => {
      now += ms;
    },
    learn: async (path, request) => {
      await fetch(path, request);
      assert.equal((await fetch(path, request)).headers['x-cache'], 'HIT');
      assert.equal(await prepared(), 0);
    },
    isPrepared: async (path = '/a', request = {}) => {
      const before = await prepared();
      await fetch(path, request);
      return (await prepared()) > before;
    },
  };
}

type CaseOptions = Pick<TestEdgeOptions, 'clock' | 'urlKeys'>;
type Started = Pick<StartedCase, 'edge' | 'origin' | 'fetch'>;

async function startPlain(t: TestContext, script: Answer, options: CaseOptions): Promise<Started> {
  const origin = await startOrigin(t, script);
  const edge = await startTestEdge(t, { primary: loopback([origin.port]) }, options);
  return { edge, origin, fetch: (path, request) => edge.get(path, { connection: 'keep-alive', ...request }) };
}

async function startOverTls(t: TestContext, script: Answer, options: CaseOptions): Promise<Started> {
  const edge = await startHttpsEdge(t, script, options);
  const session = open(t, edge);
  return { edge, origin: edge.origin, fetch: (path, request) => fetchOver(session, path, request) };
}

export const CASES: readonly (readonly [name: string, Case])[] = [
  ['of a plain site', {}],
  [
    'with every field of a browser',
    {
      request: {
        headers: ['User-Agent', 'B/1', 'Referer', 'https://x.test/', 'Accept-Encoding', 'gzip, br', 'Cookie', 'a=1'],
      },
    },
  ],
  [
    'to a client that says what a line may not hold',
    { request: { headers: ['User-Agent', 'B\\1\t\xe9', 'Referer', `https://x.test/${'r'.repeat(2_100)}`] } },
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
  ['that varies by coding', { origin: { vary: 'Accept-Encoding' }, request: { headers: ['Accept-Encoding', 'gzip'] } }],
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
  [
    'where lists of addresses let the client in',
    {
      site: { access: { deniedLists: ['1/bad', '1/none'], allowedLists: ['1/good'] } },
      lists: { '1/bad': ['192.0.2.0/24'], '1/good': ['127.0.0.0/8', '::1'] },
    },
  ],
  [
    'where refused clients are sent elsewhere',
    {
      site: {
        access: { deniedUserAgents: ['*bot*'], refusal: { kind: 'redirect', url: 'https://x.test/sorry' } },
      },
      request: { headers: ['User-Agent', 'B/1'] },
    },
  ],
  [
    'where the site changes header fields',
    {
      site: {
        responseHeaders: [
          { action: 'set', name: 'Cache-Control', value: 'no-cache' },
          { action: 'add', name: 'X-A', value: '1' },
          { action: 'remove', name: 'X-B', value: '' },
        ],
      },
      origin: { 'x-a': '0', 'x-b': '0' },
    },
  ],
  [
    'where other paths are redirected',
    { site: { redirects: [{ match: 'prefix', content: '/other', target: '/a', status: 302, keepsQuery: true }] } },
  ],
  [
    'where the client has a rate limit',
    { site: { rateLimits: [{ match: 'prefix', content: '/', requests: 1000, seconds: 1, burst: 1000 }] } },
  ],
  ['where the query is no part of the key', { site: { ignoresQuery: true } }],
  ['where redirects are followed', { site: { redirectFollow: true } }],
] as const;
