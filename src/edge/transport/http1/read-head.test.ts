import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Reading, RequestHead, readHead } from './read-head.ts';

interface Read {
  readonly reading: Reading;
  readonly head: RequestHead;
  readonly bytes: Buffer;
}

function read(text: string): Read {
  const bytes = Buffer.from(text, 'latin1');
  const head = new RequestHead();
  return { reading: readHead(bytes, 0, bytes.length, head), head, bytes };
}

/** A GET of `/` with these lines after the Host's. */
function withLines(...lines: readonly string[]): string {
  return ['GET / HTTP/1.1', 'Host: example.com', ...lines, '', ''].join('\r\n');
}

const BROWSER = [
  'GET /assets/app.js?v=7 HTTP/1.1',
  'Host: www.example.com:8080',
  'Connection: keep-alive',
  'sec-ch-ua-platform: "Linux"',
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64)',
  'Accept: */*',
  'Sec-Fetch-Mode: cors',
  'Origin: https://shop.example.com',
  'Referer: https://shop.example.com/a?b',
  'Accept-Encoding: gzip, deflate, br',
  'Accept-Language: de-DE,de;q=0.9',
  'Cookie: a=b; c=\u00e9',
  'If-None-Match: "a", W/"b"',
  'If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT',
  '',
  '',
].join('\r\n');

describe('a head of a browser', () => {
  test('a head of a browser is whole and plain, and its parts are found', () => {
    const { reading, head, bytes } = read(BROWSER);
    const text = (start: number, end: number) => bytes.toString('latin1', start, end);
    assert.equal(reading, 'whole');
    assert.deepEqual(
      { isHead: head.isHead, isLast: head.isLast, isPlain: head.isPlain, end: head.end },
      { isHead: false, isLast: false, isPlain: true, end: BROWSER.length },
    );
    assert.equal(text(head.targetStart, head.targetEnd), '/assets/app.js?v=7');
    assert.equal(text(head.hostStart, head.hostEnd), 'www.example.com:8080');
    assert.equal(text(head.userAgentStart, head.userAgentEnd), 'Mozilla/5.0 (X11; Linux x86_64)');
    assert.equal(text(head.refererStart, head.refererEnd), 'https://shop.example.com/a?b');
    assert.equal(text(head.acceptEncodingStart, head.acceptEncodingEnd), 'gzip, deflate, br');
    assert.equal(text(head.ifNoneMatchStart, head.ifNoneMatchEnd), '"a", W/"b"');
    assert.equal(text(head.ifModifiedSinceStart, head.ifModifiedSinceEnd), 'Sun, 06 Nov 1994 08:49:37 GMT');
    assert.deepEqual(head.rawHeaders(bytes).slice(0, 4), ['Host', 'www.example.com:8080', 'Connection', 'keep-alive']);
    assert.equal(head.rawHeaders(bytes).length, 26);
    assert.equal(head.rawHeaders(bytes)[21], 'a=b; c=\u00e9');
  });

  test('a head of a browser is incomplete wherever it is cut', () => {
    for (let length = 0; length < BROWSER.length; length++)
      assert.equal(read(BROWSER.slice(0, length)).reading, 'incomplete', `after ${length} bytes`);
  });

  test('a head of a browser is read in the middle of a buffer', () => {
    const second = withLines('Connection: close', 'If-Range: "a"');
    const bytes = Buffer.from(`..${BROWSER}${second}HEAD /x HTTP/1.1\r\nHost:`, 'latin1');
    const head = new RequestHead();
    assert.equal(readHead(bytes, 2, bytes.length, head), 'whole');
    assert.equal(head.end, 2 + BROWSER.length);
    assert.equal(readHead(bytes, head.end, bytes.length, head), 'whole');
    assert.equal(head.end, 2 + BROWSER.length + second.length);
    assert.ok(head.isLast);
    assert.deepEqual(
      [head.userAgentEnd - head.userAgentStart, head.ifNoneMatchEnd - head.ifNoneMatchStart],
      [0, 0],
      'nothing is left of the first',
    );
    assert.deepEqual(head.rawHeaders(bytes), ['Host', 'example.com', 'Connection', 'close', 'If-Range', '"a"']);
    assert.equal(readHead(bytes, head.end, bytes.length, head), 'incomplete');
    assert.equal(readHead(bytes, 2, 2 + BROWSER.length - 1, head), 'incomplete', 'what stands behind `to` is not read');
  });
});

describe('plain requests', () => {
  const rows: readonly (readonly [lines: readonly string[], isPlain: boolean])[] = [
    [[], true],
    [
      ['X-Unknown: ', 'Content-Type: text/plain', 'Authorization: Basic YQ==', 'If-Range: "a"', 'Forwarded: for=a'],
      true,
    ],
    [['COOKIE: a', 'Cookie: b', 'Accept: a', 'accept: b', 'X-Real-IP: 192.0.2.1'], true],
    ...['Range', 'If-Match', 'If-Unmodified-Since', 'Cache-Control', 'Pragma', 'CDN-Loop', 'X-Forwarded-For']
      .flatMap((name) => [name, name.toLowerCase(), name.toUpperCase()])
      .map((name) => [[`${name}: a`], false] as const),
    [['X-Forwarded-Proto: https'], false],
    [['Ranges: a', 'Rang: a', 'Rangf: a', 'X-Range: a', 'If_Match: a', 'Vi!: a'], true],
    ...['User-Agent', 'Referer', 'Accept-Encoding', 'If-None-Match', 'If-Modified-Since']
      .flatMap((name) => [[`${name}: a`, `${name.toUpperCase()}: a`], [`${name}: `]])
      .map((lines) => [lines, false] as const),
    ...[
      'Authorization',
      'Content-Type',
      'Date',
      'From',
      'If-Range',
      'Max-Forwards',
      'Origin',
      'Proxy-Authorization',
    ].flatMap((name): [string[], boolean][] => [
      [[`${name}: a`], true],
      [[`${name}: a`, 'Accept: b', `${name.toLowerCase()}: a`], false],
    ]),
    // The log would count another size.
    [['Accept:*/*'], false],
    [['Accept:  */*'], false],
    [['Accept:\t*/*'], true],
    [['Accept: */* '], false],
    [['Accept: */*\t'], false],
    [['X-Unknown:'], false],
  ];
  for (const [lines, isPlain] of rows) {
    test(`fields ${JSON.stringify(lines)}: ${isPlain ? 'plain' : 'not plain'}`, () => {
      const { reading, head } = read(withLines(...lines));
      assert.deepEqual([reading, head.isPlain], ['whole', isPlain]);
    });
  }

  test('a request that is not plain leaves nothing behind in the reader', () => {
    const head = new RequestHead();
    for (const [lines, isPlain] of [
      [['Range: a', 'Origin: a'], false],
      [['Origin: a'], true],
    ] as const) {
      const bytes = Buffer.from(withLines(...lines));
      readHead(bytes, 0, bytes.length, head);
      assert.equal(head.isPlain, isPlain);
    }
  });
});

test('blanks around a value are not part of it', () => {
  const { head, bytes } = read('HEAD / HTTP/1.1\r\nhost: \t a.test\t \r\nX-A:\r\nX-B:  \t\r\nX-C: a \t b\r\n\r\n');
  assert.ok(head.isHead);
  assert.equal(bytes.toString('latin1', head.hostStart, head.hostEnd), 'a.test');
  assert.deepEqual(head.rawHeaders(bytes), ['host', 'a.test', 'X-A', '', 'X-B', '', 'X-C', 'a \t b']);
});

describe('Connection', () => {
  const rows: readonly (readonly [line: string, reading: Reading, isLast?: boolean])[] = [
    ['Connection: keep-alive', 'whole', false],
    ['connection: Keep-Alive', 'whole', false],
    ['Connection: close', 'whole', true],
    ['Connection: CLOSE', 'whole', true],
    ['Connection: close\r\nConnection: keep-alive', 'whole', true],
    ['Proxy-Connection: close', 'whole', true],
    ['Proxy-Connection: keep-alive', 'whole', false],
    ['Connection: ', 'other'],
    ['Connection: close, keep-alive', 'other'],
    ['Connection: closed', 'other'],
    ['Connection: TE', 'other'],
    ['Connection: Upgrade', 'other'],
    ['Connection: close,', 'other'],
  ];
  for (const [line, reading, isLast] of rows) {
    test(`the line ${JSON.stringify(line)}: ${reading}${isLast === true ? ', the last' : ''}`, () => {
      const result = read(withLines(line));
      assert.equal(result.reading, reading);
      if (isLast !== undefined) assert.equal(result.head.isLast, isLast);
    });
  }
});

describe('requests for node:http', () => {
  const rest = ' HTTP/1.1\r\nHost: a\r\n\r\n';
  const rows: readonly (readonly [what: string, text: string])[] = [
    ['another method', `POST /${rest}`],
    ['a method in lower case', `get /${rest}`],
    ['a longer method', `GETS /${rest}`],
    ['an empty line first', `\r\nGET /${rest}`],
    ['a blank first', ` GET /${rest}`],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['no target', `GET${rest}`],
    ['an empty target', `GET ${rest}`],
    ['two blanks before the target', `GET  /${rest}`],
    ['two blanks after the target', `GET / ${rest}`],
    ['a tab before the target', `GET\t/${rest}`],
    ['a whole URL', `GET http://a/${rest}`],
    ['an asterisk', `GET *${rest}`],
    ['a fragment', `GET /#a${rest}`],
    ['a control in the target', `GET /\x01${rest}`],
    ['DEL in the target', `GET /\x7f${rest}`],
    ['NUL in the target', `GET /\0${rest}`],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\n\r\n'],
    ['HTTP/1.2', 'GET / HTTP/1.2\r\nHost: a\r\n\r\n'],
    ['HTTP/0.9', 'GET /\r\n'],
    ['another protocol', 'GET / HTTX/1.1\r\nHost: a\r\n\r\n'],
    ['a blank after the version', 'GET / HTTP/1.1 \r\nHost: a\r\n\r\n'],
    ['a bare LF after the request line', 'GET / HTTP/1.1\nHost: a\r\n\r\n'],
    ['no Host', 'GET / HTTP/1.1\r\nAccept: a\r\n\r\n'],
    ['no field', 'GET / HTTP/1.1\r\n\r\n'],
    ['an empty Host', 'GET / HTTP/1.1\r\nHost: \r\n\r\n'],
    ['two Hosts', withLines('Host: example.com')],
    ['two Hosts, the first empty', 'GET / HTTP/1.1\r\nHost:\r\nHost: a\r\n\r\n'],
    ['a bare LF after a field', withLines('A: b\nC: d')],
    ['a bare LF as the empty line', 'GET / HTTP/1.1\r\nHost: a\r\n\n'],
    ['a bare CR in a value', withLines('A: b\rc')],
    ['two CRs', withLines('A: b\r')],
    ['a CR that ends the head with another', 'GET / HTTP/1.1\r\nHost: a\r\n\r\r'],
    ['a folded line', withLines('A: b', ' c')],
    ['a line folded with a tab', withLines('A: b', '\tc')],
    ['a folded first line', 'GET / HTTP/1.1\r\n Host: a\r\n\r\n'],
    ['NUL in a value', withLines('A: b\0')],
    ['a control in a value', withLines('A: b\x1f')],
    ['DEL in a value', withLines('A: b\x7f')],
    ['a blank before the colon', withLines('A : b')],
    ['a tab before the colon', withLines('A\t: b')],
    ['no colon', withLines('A')],
    ['no name', withLines(': b')],
    ['a delimiter in a name', withLines('A(: b')],
    ['a byte beyond ASCII in a name', withLines('\xe9: b')],
    ['Content-Length', withLines('content-length: 0')],
    ['Transfer-Encoding', withLines('Transfer-encoding: chunked')],
    ['Expect', withLines('EXPECT: 100-continue')],
    ['Upgrade', withLines('Upgrade: h2c')],
    ['more fields than a hundred', withLines(...Array.from({ length: 100 }, (_, i) => `X-${i}: a`))],
    ['more than 32 KiB', withLines(`Cookie: ${'a'.repeat(32 * 1024)}`)],
    ['more than 32 KiB of a target', `GET /${'a'.repeat(32 * 1024)}${rest}`],
    ['more than 32 KiB of a name', withLines('a'.repeat(32 * 1024))],
  ];
  for (const [what, text] of rows) {
    test(`a request is left to node:http: ${what}`, () => {
      assert.equal(read(text).reading, 'other');
      let isOther = false;
      for (let length = 0; length <= Math.min(text.length, 200); length++) {
        const { reading } = read(text.slice(0, length));
        assert.notEqual(reading, 'whole', `after ${length} bytes`);
        assert.ok(reading === 'other' || !isOther, 'a request for node:http stays one');
        isOther ||= reading === 'other';
      }
    });
  }
});

test('a hundred fields and 32 KiB are accepted', () => {
  assert.equal(read(withLines(...Array.from({ length: 99 }, (_, i) => `X-${i}: a`))).reading, 'whole');
  const rest = withLines('Cookie: ').length;
  const largest = withLines(`Cookie: ${'a'.repeat(32 * 1024 - rest)}`);
  assert.equal(read(largest).reading, 'whole');
  assert.equal(read(`${largest}GET`).reading, 'whole');
  assert.equal(read(largest.slice(0, -1)).reading, 'incomplete');
  assert.equal(read(withLines(`Cookie: ${'a'.repeat(32 * 1024 - rest + 1)}`)).reading, 'other');

  test('the reader says whether a value has characters that a log line may not have', () => {
    const head = new RequestHead();
    for (const [value, hasEscapes] of [
      ['a b~!', false],
      ['a\tb', true],
      ['\\', true],
      ['caf\xe9 (x) \xff', true],
      ['x', false],
    ] as const) {
      const bytes = Buffer.from(`GET / HTTP/1.1\r\nHost: a\r\nReferer: ${value}\r\nCookie: x\r\n\r\n`, 'latin1');
      assert.equal(readHead(bytes, 0, bytes.length, head), 'whole');
      assert.equal(head.hasEscapes, hasEscapes);
      assert.equal(bytes.toString('latin1', head.refererStart, head.refererEnd), value);
    }
  });
});
