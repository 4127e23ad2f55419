/**
 * An origin whose answers depend on nothing but the request, the clock and what a test has changed: edges that each have one of
 * these, and are asked the same, are told the same. Its objects are of all the kinds that a cache treats differently.
 */
import type { TestContext } from 'node:test';
import { formatDate } from '../../../../src/http/dates.ts';
import type { Clock } from '../../../../src/lib/clock.ts';
import { type ScriptedOrigin, type SeenRequest, startOrigin } from '../origin.ts';

/** What tests change, at all origins alike. */
export interface Objects {
  /** Version of every object: another one has another body and tag. */
  version: number;
  /** Every answer is a 503. */
  isDown: boolean;
}

interface Kind {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly sizeBytes?: number;
  readonly hasTag?: boolean;
  readonly hasDate?: boolean;
  /** Absent: as long as it is. */
  readonly isChunked?: boolean;
}

const fresh = (seconds: number, more: Kind['headers'] = {}): Kind => ({
  hasTag: true,
  hasDate: true,
  headers: { 'cache-control': `max-age=${seconds}`, ...more },
});

/** Kinds by path. Any other path is fresh for a minute. */
const KINDS: Readonly<Record<string, Kind>> = {
  '/a': fresh(60),
  '/long': fresh(86_400, { 'content-type': 'text/plain' }),
  '/bare': { headers: { 'cache-control': 'max-age=60' } },
  '/big': { ...fresh(600, { 'content-type': 'image/png' }), sizeBytes: 20_000 },
  '/large': { ...fresh(600), sizeBytes: 300_000 },
  '/empty': { ...fresh(600), sizeBytes: 0 },
  '/page.html': { ...fresh(600, { 'content-type': 'text/html' }), sizeBytes: 5_000 },
  '/same.html': {
    ...fresh(600, { 'content-type': 'text/html', 'cache-control': 'max-age=600, no-transform' }),
    sizeBytes: 5_000,
  },
  '/coded': fresh(60, { vary: 'Accept-Encoding' }),
  '/vary-ua': fresh(60, { vary: 'User-Agent' }),
  '/vary-cookie': fresh(60, { vary: 'Cookie, Accept-Encoding' }),
  '/vary-language': fresh(60, { vary: 'accept-language' }),
  '/vary-address': fresh(60, { vary: 'X-Forwarded-For' }),
  '/vary-any': fresh(60, { vary: '*' }),
  '/cors': fresh(60, { vary: 'Origin', 'access-control-allow-origin': 'https://a.test' }),
  '/no-store': fresh(60, { 'cache-control': 'no-store' }),
  '/private': fresh(60, { 'cache-control': 'private, max-age=60' }),
  '/no-cache': fresh(60, { 'cache-control': 'no-cache' }),
  '/short': fresh(2, { 'cache-control': 'max-age=2, must-revalidate' }),
  '/if-error': fresh(2, { 'cache-control': 'max-age=2, stale-if-error=600' }),
  '/cookie': fresh(60, { 'set-cookie': ['a=1', 'b=2'] }),
  '/shared': fresh(60, { 'cache-control': 'public, max-age=60' }),
  '/guessed': { hasDate: true, hasTag: true },
  '/missing': { ...fresh(60), status: 404 },
  '/gone': { status: 410 },
  '/moved': { ...fresh(60, { location: '/a' }), status: 301 },
  '/found': { ...fresh(60, { location: '/long' }), status: 302 },
  '/aged': fresh(60, { age: '30', via: '1.0 fred', 'x-cache': 'HIT', 'cache-status': 'other; hit' }),
  '/targeted': fresh(60, { 'cache-control': 'private', 'cdn-cache-control': 'max-age=60' }),
  '/chunked': { ...fresh(60, { 'content-type': 'text/plain' }), isChunked: true, sizeBytes: 3_000 },
  '/error': { ...fresh(60), status: 500 },
  '/odd': fresh(60, {
    'x-odd': ['caf\u00e9', '', 'a,b'],
    connection: 'x-hop',
    'x-hop': '1',
    'content-type': 'Text/HTML ; x=\t1',
  }),
  '/strict': fresh(60, { 'strict-transport-security': 'max-age=1', expires: 'Thu, 01 Jan 2099 00:00:00 GMT' }),
};

export const PATHS: readonly string[] = Object.keys(KINDS);

export function startTwinOrigin(
  t: Pick<TestContext, 'after'>,
  clock: Clock,
  objects: Readonly<Objects>,
): Promise<ScriptedOrigin> {
  return startOrigin(t, (request, response) => {
    const { status, reason, headers, body } = answerTo(request, objects, clock());
    response.sendDate = false;
    response.writeHead(status, reason, headers);
    response.end(body);
  });
}

interface OriginAnswer {
  readonly status: number;
  readonly reason: string;
  readonly headers: string[];
  readonly body: Buffer;
}

function answerTo(request: SeenRequest, { version, isDown }: Objects, now: number): OriginAnswer {
  const path = request.target.split('?')[0] ?? '';
  const { status = 200, headers = {}, ...kind } = KINDS[path] ?? fresh(60);
  const date = ['Date', formatDate(now)];
  if (isDown) return whole(503, [...date, 'Retry-After', '1'], Buffer.from('down'));
  if (request.method === 'OPTIONS') return whole(204, [...date, 'Access-Control-Allow-Origin', '*'], NOTHING);
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return whole(200, date, Buffer.from(`${request.method} ${request.body}`));
  const body = bodyOf(request, version, kind.sizeBytes ?? 100);
  const tag = `"t${version}"`;
  const fields = [...date, ...listed(headers)];
  if (kind.hasTag === true) fields.push('ETag', tag);
  if (kind.hasDate === true) fields.push('Last-Modified', formatDate(MODIFIED_AT + version * 60_000));
  if (kind.hasTag === true && request.headers['if-none-match'] === tag)
    return { status: 304, reason: 'Not Modified', headers: fields, body: NOTHING };
  const range = status === 200 ? rangeOf(request, tag, body.length) : undefined;
  if (range !== undefined) {
    const { first, last } = range;
    const headersOfPart = [...fields, 'Content-Range', `bytes ${first}-${last}/${body.length}`];
    return whole(206, headersOfPart, body.subarray(first, last + 1));
  }
  if (kind.isChunked === true) return { status, reason: 'Fine', headers: fields, body };
  return whole(status, fields, body);
}

function whole(status: number, headers: readonly string[], body: Buffer): OriginAnswer {
  return { status, reason: 'Fine', headers: [...headers, 'Content-Length', String(body.length)], body };
}

/** Which part of what was asked can be told from it: none that an origin should not look at. */
function bodyOf({ target, headers }: SeenRequest, version: number, sizeBytes: number): Buffer {
  const asked = ['host', 'user-agent', 'cookie', 'accept-language', 'x-forwarded-for'].map(
    (name) => headers[name] ?? '-',
  );
  const path = target.split('?')[0] ?? '';
  const text = path.startsWith('/vary')
    ? `${target} ${version} ${asked.join(' ')}\n`
    : `${headers['host']}${target} ${version}\n`;
  return Buffer.from(text.repeat(Math.ceil(sizeBytes / text.length)), 'latin1').subarray(0, sizeBytes);
}

function rangeOf({ headers, method }: SeenRequest, tag: string, sizeBytes: number) {
  const match = /^bytes=(\d+)-(\d*)$/.exec(headers['range'] ?? '');
  if (match === null || method !== 'GET') return undefined;
  if (headers['if-range'] !== undefined && headers['if-range'] !== tag) return undefined;
  const first = Number(match[1]);
  const last = Math.min(match[2] === '' ? sizeBytes - 1 : Number(match[2]), sizeBytes - 1);
  return first > last ? undefined : { first, last };
}

function listed(headers: NonNullable<Kind['headers']>): string[] {
  return Object.entries(headers).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]));
}

const MODIFIED_AT = Date.UTC(2026, 0, 1);
const NOTHING = Buffer.alloc(0);
