/** Heads of requests as bytes: like a browser's, then with something wrong in them. */
import fc from 'fast-check';

const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'get', 'OPTIONS', 'M-SEARCH', 'PRI', 'GE', ''];
const TARGETS = [
  '/',
  '/assets/app.js?v=7',
  '/%e4%b8%ad/?a=%20&b=["{|}\\^`<>"]',
  '//a/../b',
  '/#a',
  '/\xe4',
  '*',
  'http://example.com/a',
  'example.com:443',
  '',
  '/ a',
];
const VERSIONS = [
  ...Array<string>(12).fill('HTTP/1.1'),
  'HTTP/1.0',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/0.9',
  'http/1.1',
  'RTSP/1.1',
  '',
];

const BROWSER_FIELDS = [
  'Host: www.example.com',
  'Connection: keep-alive',
  'sec-ch-ua: "Chromium";v="131", "Not_A Brand";v="24"',
  'sec-ch-ua-platform: "Linux"',
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  'Accept: image/avif,image/webp,*/*;q=0.8',
  'Origin: https://www.example.com',
  'Sec-Fetch-Mode: no-cors',
  'Referer: https://www.example.com/a/?b',
  'Accept-Encoding: gzip, deflate, br, zstd',
  'Accept-Language: de-DE,de;q=0.9',
  'Cookie: a=b; c=\xe9',
  'If-None-Match: W/"1", "2"',
  'If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT',
];
const NAMES = [
  ...BROWSER_FIELDS.map((field) => field.split(':')[0] ?? ''),
  ...['Content-Length', 'Transfer-Encoding', 'Expect', 'Upgrade', 'Proxy-Connection', 'Keep-Alive', 'TE', 'Trailer'],
  ...[
    'Range',
    'If-Range',
    'If-Match',
    'If-Unmodified-Since',
    'Cache-Control',
    'Pragma',
    'Via',
    'CDN-Loop',
    'Forwarded',
  ],
  ...['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Real-IP', 'Authorization', 'Proxy-Authorization', 'Date', 'From'],
  ...['Content-Type', 'Content-Range', 'Content-Location', 'Max-Forwards', 'Sec-WebSocket-Key', 'HTTP2-Settings'],
  ...['X-A', 'a', '', 'X_A', 'A B', 'Host ', '\xe9', '(a)', "!#$%&'*+-.^_`|~09Az"],
];
const VALUES = [
  ...[
    '',
    'a',
    ' ',
    '\t',
    'keep-alive',
    'close',
    'Close',
    'close, keep-alive',
    'keep-alive,',
    'upgrade',
    'TE',
    'websocket',
    'h2c',
  ],
  ...[
    '0',
    '5',
    '+1',
    'chunked',
    'identity',
    '100-continue',
    'no-cache',
    'max-age=0',
    'no-store',
    'bytes=0-1',
    '"a"',
    '*',
  ],
  ...[
    '1.1 causeway',
    'causeway',
    '192.0.2.1',
    'https',
    'www.example.com',
    'a.test:80',
    '[::1]',
    'Basic YTpi',
    '\xe9\x80\xff',
  ],
];
const SEPARATORS = [...Array<string>(8).fill(': '), ':', ':  ', ':\t', ' : ', ': \t '];
const LINE_ENDS = [...Array<string>(12).fill('\r\n'), '\n', '\r', '\r\r\n', ' \r\n', '\t\r\n', '\r\n ', '\n\r'];
const PIECES = [
  ...[
    '\r\n',
    '\r\n\r\n',
    '\n',
    '\n\n',
    '\r',
    '\r\n ',
    '\r\n\t',
    ': ',
    ' :',
    ' ',
    '\t',
    '\0',
    '\x7f',
    '\x1f',
    '\x80',
    '\xff',
    '#',
    '/',
  ],
  ...[
    '\r\nHost: b',
    '\r\nContent-Length: 3',
    '\r\nTransfer-Encoding: chunked',
    '\r\nConnection: close',
    '\r\nUpgrade: h2c',
  ],
  ...['GET / HTTP/1.1\r\n', 'HTTP/1.1', '0\r\n\r\n', 'a'.repeat(300)],
];

const oddField = fc
  .tuple(fc.constantFrom(...NAMES), fc.constantFrom(...SEPARATORS), fc.constantFrom(...VALUES), fc.nat(2))
  .map(([name, separator, value, spelling]) => {
    const names = [name, name.toLowerCase(), name.toUpperCase()];
    return `${names[spelling] ?? name}${separator}${value}`;
  });
const closing = fc.constantFrom('Connection: close', 'connection: Close', 'Proxy-Connection: close');
export const anyField = fc.oneof(
  { weight: 40, arbitrary: fc.constantFrom(...BROWSER_FIELDS.slice(1)) },
  { weight: 10, arbitrary: oddField },
  { weight: 1, arbitrary: closing },
);
const fields = fc
  .tuple(fc.array(anyField, { maxLength: 16 }), fc.nat(16), fc.integer({ min: 0, max: 9 }))
  .map(([list, at, hosts]) => (hosts === 0 ? list : list.toSpliced(at, 0, 'Host: www.example.com')));

const goodLine = fc
  .tuple(fc.constantFrom('GET', 'HEAD'), fc.constantFrom(...TARGETS.slice(0, 4)))
  .map((parts) => [...parts, 'HTTP/1.1']);
const oddLine = fc
  .tuple(fc.constantFrom(...METHODS), fc.constantFrom(...TARGETS), fc.constantFrom(...VERSIONS))
  .map((parts) => [...parts]);
const requestLine = fc
  .oneof({ weight: 5, arbitrary: goodLine }, { weight: 1, arbitrary: oddLine })
  .map((parts) => parts.join(' '));

const head = fc
  .tuple(requestLine, fields, fc.option(fc.tuple(fc.nat(16), fc.constantFrom(...LINE_ENDS)), { freq: 4 }))
  .map(([line, list, oddEnd]) => {
    const lines = [line, ...list, ''];
    return lines.map((text, index) => text + (index === oddEnd?.[0] ? oddEnd[1] : '\r\n')).join('');
  });

interface Mutation {
  /** A share of the length, in 65,536ths. */
  readonly at: number;
  readonly removed: number;
  readonly added: string;
}

export const anyMutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(0xffff),
  removed: fc.oneof({ weight: 4, arbitrary: fc.nat(1) }, { weight: 1, arbitrary: fc.nat(40) }),
  added: fc.oneof(
    fc.constant(''),
    fc.constantFrom(...PIECES),
    fc.nat(255).map((byte) => String.fromCharCode(byte)),
  ),
});

export function mutate(text: string, { at, removed, added }: Mutation): string {
  const from = Math.floor((at * (text.length + 1)) / 0x1_0000);
  return text.slice(0, from) + added + text.slice(from + removed);
}

/** One to three heads, one behind the other; in most of them a few bytes are not as they should be. */
export const anyHeads: fc.Arbitrary<Buffer> = fc
  .tuple(fc.array(head, { minLength: 1, maxLength: 3 }), fc.array(anyMutation, { maxLength: 2 }))
  .map(([heads, mutations]) => Buffer.from(mutations.reduce(mutate, heads.join('')), 'latin1'));
