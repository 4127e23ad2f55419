/** Requests of many kinds, most of them like a browser's and asked again and again, for edges that must answer alike. */
import fc from 'fast-check';
import { SITE_HOST } from '../edge.ts';
import { PATHS } from './twin-origin.ts';

export const OTHER_HOST = 'other.example.com';
export const WILD_HOST = 'a.wild.example.com';
/** Has another certificate. */
export const FOREIGN_HOST = 'foreign.example.com';

export interface TwinField {
  readonly name: string;
  readonly value: string;
  /** Blanks between the two, and after them. */
  readonly blanks: readonly [string, string];
}

export interface TwinRequest {
  readonly method: string;
  readonly target: string;
  /** Version after `HTTP/`; HTTP/2 has none of its own. */
  readonly version: string;
  /** Each a line. */
  readonly hosts: readonly string[];
  readonly fields: readonly TwinField[];
  readonly body: string | undefined;
  readonly isChunked: boolean;
}

/** Writes a request as bytes of HTTP/1, a character each. */
export function written({ method, target, version, hosts, fields, body, isChunked }: TwinRequest): string {
  const lines = [`${method} ${target} HTTP/${version}`, ...hosts.map((host) => `Host: ${host}`)];
  for (const { name, value, blanks } of fields) lines.push(`${name}:${blanks[0]}${value}${blanks[1]}`);
  if (body !== undefined) lines.push(isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`);
  const sent = body === undefined ? '' : isChunked ? `${chunk(body)}0;a="b"\r\nTrailer: x\r\n\r\n` : body;
  return `${lines.join('\r\n')}\r\n\r\n${sent}`;
}

function chunk(body: string): string {
  return body === '' ? '' : `${body.length.toString(16)};x=y\r\n${body}\r\n`;
}

const plain = (name: string, value: string): TwinField => ({ name, value, blanks: [' ', ''] });

export const CHALLENGE_TOKEN = 'token-of-a-challenge-1';
const CHALLENGE = `/.well-known/acme-challenge/${CHALLENGE_TOKEN}`;
const HOT_PATHS = [
  '/a',
  '/a',
  CHALLENGE,
  '/long',
  '/big',
  '/page.html',
  '/coded',
  '/empty',
  '/aged',
  '/targeted',
  '/large',
  '/strict',
];
const CODINGS = ['gzip, deflate, br', 'br', 'gzip;q=0, br;q=0.5', 'identity', 'GZIP', '*', 'gzip,gzip', 'zstd'];
const AGENTS = ['Browser/1', 'a bot', '', 'caf\u00e9', 'Browser/2'];
const REFERERS = [
  ...['https://www.example.com/', 'http://evil.test/x', 'about:blank', '', 'https://a.evil.test'],
  ...[
    'https://www.example.com:443',
    'http://www.example.com:8080/',
    'HTTPS://WWW.Example.com/',
    'http://www.example.com./',
  ],
  ...[
    'https://www.example.com.evil.test/',
    'https://www.example.com@evil.test/',
    'http://evil.test:81/',
    'ftp://evil.test/',
  ],
  ...['http://caf\u00c3\u00a9.test/', 'http://xn--caf-dma.test/', 'http://caf\u00e9.test/', '-'],
];
const TARGETS = [
  ...[
    '/a?',
    '/a?x=1',
    '/a?x=2',
    '/A',
    '/%61',
    '//a',
    '/./a',
    '/d/../a',
    '/d%2fa',
    '/a%3fb',
    '/a#b',
    '/a%zz',
    '/\u00e4',
    '/%e4',
  ],
  ...[
    '/"<>\\^`{|}',
    '/a;b=c',
    '/*',
    '*',
    '/d/x',
    '/d/y?z',
    '/d',
    '/d/',
    '/.well-known/x',
    CHALLENGE,
    `/${'l'.repeat(1_100)}`,
    '/a b',
    '/~',
    '/%7e',
  ],
  ...[
    `http://${SITE_HOST}/a`,
    `http://${OTHER_HOST}/a`,
    `HTTPS://${SITE_HOST}/a`,
    `http://${SITE_HOST}`,
    '/a?\u00e4',
    '/?',
    '/',
    '/\u0080\u00ff',
    '/d/\u00c3\u00a4?\u00e4=\u00e4',
    '/%\u00e4\u00e4',
    '\u00e4',
    '/\u007f',
    `/${'\u00e4'.repeat(8_192)}`,
    `http://${SITE_HOST}/\u00e4`,
    `http://\u00e4.test/a`,
  ],
];
const HOSTS = [
  ...[
    'WWW.Example.com',
    `${SITE_HOST}.`,
    `${SITE_HOST}:80`,
    `${SITE_HOST}:443`,
    `${SITE_HOST}:8080`,
    `${SITE_HOST}:`,
    OTHER_HOST,
  ],
  ...[
    WILD_HOST,
    'b.c.wild.example.com',
    'wild.example.com',
    'unknown.test',
    '',
    'a b',
    `${SITE_HOST}:99999`,
    '127.0.0.1',
    '[::1]',
  ],
  ...[FOREIGN_HOST, `x@${SITE_HOST}`, `${SITE_HOST}..`, `${SITE_HOST}/a`, 'caf\u00e9.test'],
];
const DATES = [
  'Thu, 01 Jan 2026 00:00:00 GMT',
  'Thu, 01 Jan 2026 00:01:00 GMT',
  'Fri, 01 Jan 2027 00:00:00 GMT',
  'x',
  '',
];
const TAGS = ['"t0"', '"t1"', 'W/"t0", "t1"', '"x"', '*', 'W/"x", "y"', '', 'x'];
/** Each field that may be read is among them: `test/edge/fast-lanes.test.ts` looks. */
export const ODD_FIELDS: Readonly<Record<string, readonly string[]>> = {
  'Accept-Encoding': [...CODINGS, ''],
  'User-Agent': AGENTS,
  Referer: REFERERS,
  Cookie: ['a=1', 'a=2; b="c"', ''],
  Authorization: ['Basic YTpi', ''],
  Origin: ['https://a.test', 'null'],
  'Accept-Language': ['de, en;q=0.5', 'en'],
  Range: ['bytes=0-9', 'bytes=5-', 'bytes=-3', 'bytes=0-1,5-6', 'bytes=9999999-', 'lines=1-2', ''],
  'If-Range': ['"t0"', '"t1"', ...DATES],
  'If-None-Match': TAGS,
  'If-Modified-Since': DATES,
  'If-Match': TAGS,
  'If-Unmodified-Since': DATES,
  'Cache-Control': ['no-cache', 'no-store', 'max-age=0', 'only-if-cached', 'max-stale', 'no-transform', 'x'],
  Pragma: ['no-cache'],
  Via: ['1.1 other', '1.1 causeway'],
  'CDN-Loop': ['other', 'causeway'],
  'X-Forwarded-For': ['198.51.100.9', '127.0.0.2', 'x', '198.51.100.9, 127.0.0.3'],
  'X-Forwarded-Proto': ['https', 'http'],
  'X-Forwarded-Host': ['evil.test'],
  Connection: [
    'keep-alive',
    'close',
    'Keep-Alive',
    'CLOSE',
    'close, x',
    'TE',
    'keep-alive, accept-encoding',
    'cookie',
    'upgrade',
    '',
  ],
  'Proxy-Connection': ['keep-alive', 'close'],
  'Keep-Alive': ['timeout=1'],
  TE: ['trailers', 'gzip'],
  Expect: [
    '100-continue',
    'x',
    '100-Continue',
    '100-continue, x',
    'x, 100-continue',
    '100-continue,',
    '',
    '"100-continue"',
  ],
  Upgrade: ['h2c', 'TLS/1.0'],
  'Content-Length': ['0', '5, 5', '+1', 'x'],
  'Transfer-Encoding': ['identity', 'chunked, gzip', 'gzip'],
  'Content-Type': ['text/plain'],
  'Content-Location': ['/b'],
  'Content-Range': ['bytes 0-1/2'],
  'Max-Forwards': ['0', '1'],
  'Proxy-Authorization': ['Basic YTpi'],
  'Access-Control-Request-Method': ['PUT'],
  'Sec-WebSocket-Key': ['dGhlIHNhbXBsZSBub25jZQ=='],
  'Sec-Fetch-Mode': ['navigate'],
  Date: DATES,
  From: ['a@b.test'],
  'X-A': ['', '\u00e4\u00ff', 'a'.repeat(2_000), 'a\tb', '\u0080', '\u00a0', 'a\u007f', '"\\', ' , '],
  X_A: ['a'],
  "!#$%&'*+-.^_`|~0": ['a'],
};
const METHODS_SELDOM = [
  'PATCH',
  'QUERY',
  'PROPFIND',
  'M-SEARCH',
  'SOURCE',
  'PRI',
  'DESCRIBE',
  'OPTION',
  'G\u00e4T',
  'A_B',
  'HEADER',
];
const VERSIONS_SELDOM = ['1.2', '0.9', '2.0', '3.0', '1', '1.', '1.10', '01.1', 'x'];
const BLANKS: readonly (readonly [string, string])[] = [
  [' ', ''],
  [' ', ''],
  [' ', ''],
  ['', ''],
  ['\t', ''],
  ['  ', ' '],
  [' ', '\t'],
];

const oddField: fc.Arbitrary<TwinField> = fc
  .tuple(fc.constantFrom(...Object.entries(ODD_FIELDS)), fc.nat(), fc.nat(2), fc.constantFrom(...BLANKS))
  .map(([[name, values], at, spelling, blanks]) => ({
    name: [name, name.toLowerCase(), name.toUpperCase()][spelling] ?? name,
    value: values[at % values.length] ?? '',
    blanks,
  }));

const repeatedField = oddField.map((field) => [field, field]);

/** Requests that a shortcut may answer: the same by two clients, one of which the rules may refuse. */
const anyRegulars: fc.Arbitrary<readonly TwinRequest[]> = fc
  .record({
    target: fc.constantFrom(...HOT_PATHS),
    coding: fc.constantFrom(undefined, ...CODINGS.slice(0, 3)),
    agents: fc.constantFrom(['Browser/1', 'a bot'], ['Browser/1', undefined], ['Browser/1', 'Browser/1']),
    referers: fc.constantFrom(
      [undefined, 'http://evil.test/x'],
      [undefined, 'https://www.example.com/'],
      [REFERERS[0], REFERERS[1]],
      [REFERERS[0], 'https://www.example.com.evil.test/'],
      ['http://evil.test', 'http://evil.test:81/x'],
      ['http://www.example.com/', 'http://www.example.com:8080/'],
    ),
    condition: fc.constantFrom(
      [],
      [],
      [plain('If-Modified-Since', DATES[0] ?? '')],
      [plain('If-None-Match', '"x", W/"t0"')],
    ),
    host: fc.constantFrom(SITE_HOST, SITE_HOST, SITE_HOST, OTHER_HOST),
  })
  .map(({ target, coding, agents, referers, condition, host }) =>
    [0, 1].map((i) => ({
      ...{ method: 'GET', target, version: '1.1' as const, hosts: [host], body: undefined, isChunked: false },
      fields: [
        ...fieldOf('User-Agent', agents[i]),
        ...fieldOf('Accept-Encoding', coding),
        ...fieldOf('Referer', referers[i]),
        ...condition,
      ],
    })),
  );

function fieldOf(name: string, value: string | undefined): TwinField[] {
  return value === undefined ? [] : [plain(name, value)];
}

/** Asked for again and again in one run. */
export const regulars: fc.Arbitrary<readonly TwinRequest[]> = fc
  .array(anyRegulars, { minLength: 2, maxLength: 2 })
  .map((pairs) => pairs.flat());

/** What is changed in a regular one. */
export interface Oddity {
  readonly of: number;
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly hosts: readonly string[] | undefined;
  readonly fields: readonly TwinField[];
  readonly version: TwinRequest['version'];
  readonly body: string | undefined;
  readonly isChunked: boolean;
}

const rarely = <T>(weight: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: weight - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

export const anyOddity: fc.Arbitrary<Oddity> = fc.record({
  of: fc.nat(3),
  method: rarely(
    4,
    fc.oneof(
      fc.constantFrom('HEAD', 'HEAD', 'POST', 'POST', 'PUT', 'DELETE', 'DELETE', 'OPTIONS', 'TRACE', 'PURGE', 'get'),
      fc.constantFrom(...METHODS_SELDOM),
    ),
  ),
  target: rarely(3, fc.oneof(fc.constantFrom(...PATHS), fc.constantFrom(...TARGETS))),
  hosts: rarely(
    4,
    fc.oneof(
      fc.constantFrom(...HOSTS).map((host) => [host]),
      fc.constantFrom([], [SITE_HOST, SITE_HOST]),
    ),
  ),
  fields: fc.oneof(
    { weight: 6, arbitrary: fc.array(oddField, { minLength: 1, maxLength: 2 }) },
    { weight: 1, arbitrary: repeatedField },
  ),
  version: fc.constantFrom(...Array<'1.1'>(40).fill('1.1'), '1.0', '1.0', '1.0', ...VERSIONS_SELDOM),
  body: rarely(12, fc.constantFrom('', 'GET /smuggled HTTP/1.1\r\n\r\n')),
  isChunked: fc.boolean(),
});

export function oddOf(
  list: readonly TwinRequest[],
  { of, method, target, hosts, fields, body, ...rest }: Oddity,
): TwinRequest {
  const base = list[of % list.length] ?? HEALTHY;
  return {
    ...{ ...base, ...rest, method: method ?? base.method, target: target ?? base.target, hosts: hosts ?? base.hosts },
    fields: [...base.fields, ...fields],
    body: body ?? (method === 'POST' || method === 'PUT' ? 'x' : undefined),
  };
}

const HEALTHY: TwinRequest = {
  ...{ method: 'GET', target: '/a', version: '1.1', hosts: [SITE_HOST], fields: [], body: undefined, isChunked: false },
};
