/** A request is served alike over HTTP/1.1 and HTTP/2, whoever reads it: odd bytes in targets and fields, methods, expectations. docs/decisions/0416 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { SITE_HOST } from '../support/edge/edge.ts';
import { answerOf, open } from '../support/edge/http2-client.ts';
import { connectTls, type HttpsEdge, startHttpsEdge } from '../support/edge/https-edge.ts';
import { startRawOrigin } from '../support/edge/origin.ts';
import { needs } from '../support/runner/needs.ts';

interface Asked {
  readonly method?: string;
  /** A character for each byte. */
  readonly target?: string;
  readonly fields?: readonly string[];
  readonly body?: string;
}

interface Answered {
  readonly status: number;
  /** Mark of the pipeline; `undefined` for a refusal by a parser. */
  readonly xCache: string | undefined;
  /** Request lines at the origin, and fields that clients have sent. */
  readonly asked: readonly string[];
}

type Way = (asked: Asked) => Promise<Answered>;

const FRESH = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nCache-Control: max-age=60\r\n\r\nhello';
/** A response that is not stored, and whose connection ends, because bytes after a head are not understood. */
const NOT_STORED = FRESH.replace('max-age=60', 'no-store\r\nConnection: close');
/** What the edge itself says of a request differs with its version. */
const OWN_FIELDS = /^(?:via|x-forwarded|x-real-ip|cdn-loop|host|connection|content-length|transfer-encoding)/i;

/** Each way is that of an edge of its own, so that all of them begin with nothing stored. */
async function startWays(t: TestContext): Promise<Readonly<Record<string, Way>>> {
  return {
    'HTTP/1.1': await startWay(t, (edge, asked) => askOver1(t, edge, asked, '')),
    'HTTP/1.1, behind a request that node:http has read': await startWay(t, (edge, asked) =>
      askOver1(t, edge, asked, `OPTIONS /before HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`),
    ),
    'HTTP/1.1, byte by byte': await startWay(t, (edge, asked) => askOver1(t, edge, asked, '', true)),
    'HTTP/2': await startWay(t, (edge, asked) => askOver2(t, edge, asked)),
  };
}

type Ask = (edge: HttpsEdge, asked: Asked) => Promise<Pick<Answered, 'status' | 'xCache'>>;

async function startWay(t: TestContext, askOnce: Ask): Promise<Way> {
  const origin = await startRawOrigin(t, (socket, head) => {
    if (/^(?:GET|HEAD) /.test(head)) socket.write(head.startsWith('HEAD') ? FRESH.replace('hello', '') : FRESH);
    else socket.end(NOT_STORED);
  });
  const edge = await startHttpsEdge(t);
  const origins = { protocol: 'http', primary: [{ host: '127.0.0.1', port: origin.port }], backup: [] } as const;
  edge.putTls(SITE_HOST, {}, { origins: { ...origins, hostHeader: '', probePath: '' } });
  return async (asked) => {
    origin.heads.length = 0;
    const { status, xCache } = await askOnce(edge, asked);
    const seen = origin.heads.filter((head) => !head.includes(' /before '));
    return {
      status,
      xCache,
      asked: seen.map((head) =>
        head
          .split('\r\n')
          .filter((line) => !OWN_FIELDS.test(line))
          .sort()
          .join('\n'),
      ),
    };
  };
}

async function askOver1(t: TestContext, edge: HttpsEdge, asked: Asked, before: string, isSlow = false) {
  const { method = 'GET', target = '/', fields = [], body } = asked;
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${SITE_HOST}`];
  for (let at = 0; at < fields.length; at += 2) lines.push(`${fields[at]}: ${fields[at + 1]}`);
  if (body !== undefined) lines.push(`Content-Length: ${body.length}`);
  const socket = connectTls(t, edge);
  let text = '';
  socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
  socket.on('error', () => undefined); // an invalid request is answered before its end
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const bytes = `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n${body ?? ''}`;
  if (before !== '') socket.write(before);
  for (const piece of isSlow ? bytes.slice(0, 16) : '') {
    if (socket.writable) socket.write(piece, 'latin1');
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (socket.writable) socket.write(isSlow ? bytes.slice(16) : bytes, 'latin1');
  await ended;
  const heads = text.split(/(?=HTTP\/1\.1 )/).filter((head) => !head.startsWith('HTTP/1.1 100'));
  const last = heads.at(-1) ?? '';
  return { status: Number(last.slice(9, 12)), xCache: /^X-Cache: (.*)\r$/im.exec(last)?.[1] };
}

async function askOver2(t: TestContext, edge: HttpsEdge, { method = 'GET', target = '/', fields = [], body }: Asked) {
  const session = open(t, edge);
  const list = [':method', method, ':path', target, ':scheme', 'https', ':authority', SITE_HOST];
  const length = body === undefined ? [] : ['content-length', String(body.length)];
  const stream = session.request(
    [...list, ...length, ...fields.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text))],
    {
      endStream: body === undefined,
    },
  );
  if (body !== undefined) stream.end(Buffer.from(body, 'latin1'));
  const { status, headers } = await answerOf(stream);
  return { status, xCache: headers['x-cache'] };
}

const LONGEST = `/${'\xe4'.repeat(8_191)}`;
const BYTES = Array.from({ length: 128 }, (_, i) => String.fromCharCode(0x80 + i)).join('');

const ROWS: readonly (readonly [what: string, asked: Asked, status: number])[] = [
  ['every byte from 0x80 in a path', { target: `/${BYTES}` }, 200],
  ['every byte from 0x80 in a path, for HEAD', { method: 'HEAD', target: `/h${BYTES}` }, 200],
  ['every byte from 0x80 in a query', { target: `/q?${BYTES}` }, 200],
  ['UTF-8, as a client that does not encode sends it', { target: '/caf\xc3\xa9?x=\xc3\xa9' }, 200],
  ['one at the beginning of a path', { target: '/\xff' }, 200],
  ...['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'QUERY', 'PROPFIND', 'M-SEARCH', 'PURGE', 'SOURCE'].flatMap(
    (method) => [
      [`${method} for such a target`, { method, target: '/\xe4' }, 200] as const,
      [`${method} with a body for such a target`, { method, target: '/\xe4', body: '\xe4' }, 200] as const,
    ],
  ),
  ['the longest target of them', { target: LONGEST }, 200],
  ['one that is longer', { target: `${LONGEST}\xe4` }, 414],
  ['one that is longer, for another method', { method: 'DELETE', target: `${LONGEST}\xe4` }, 414],
  ['an encoding that is broken by one', { target: '/%\xe4\xe4' }, 400],
  ['a fragment behind one', { target: '/\xe4#a' }, 400],
  ['an unknown method', { method: 'BREW' }, 400],
  ['a method in small letters', { method: 'get' }, 400],
  ['TRACE', { method: 'TRACE' }, 405],
  ['every byte from 0x80 in a field', { target: '/f', fields: ['x-a', BYTES] }, 200],
  ['a tab in a field', { target: '/t', fields: ['x-a', 'a\tb'] }, 200],
  ['a field without a value', { target: '/e', fields: ['x-a', ''] }, 200],
  ['a name of odd characters', { target: '/n', fields: ["!#$%&'*+-.^_`|~0", 'a'] }, 200],
  ...['100-continue', '100-Continue', '100-continue, 100-continue', '100-continue,'].map(
    (value) => [`Expect: ${value}`, { method: 'POST', body: 'x', fields: ['expect', value] }, 200] as const,
  ),
  ...['x', '100-continue, x', 'x, 100-continue', '"100-continue"', '100-continue;q=1', 'x-100-continue'].map(
    (value) => [`Expect: ${value}`, { method: 'POST', body: 'x', fields: ['expect', value] }, 417] as const,
  ),
  ['Expect in two lines', { method: 'POST', body: 'x', fields: ['expect', 'x', 'expect', '100-continue'] }, 417],
  ['Expect without a body', { target: '/x', fields: ['expect', '100-continue'] }, 200],
];

describe('a request over HTTP/1.1 and HTTP/2', needs('openssl'), () => {
  test('a request is answered alike over HTTP/1.1 and HTTP/2, and reaches the origin the same, by every reader', async (t) => {
    const ways = await startWays(t);
    for (const [what, asked, status] of ROWS) {
      for (const again of asked.method === undefined ? ['', ', again'] : ['']) {
        const [expected, ...others] = await Promise.all(
          Object.entries(ways).map(async ([name, way]) => [name, await way(asked)] as const),
        );
        assert.equal(expected?.[1].status, status, what + again);
        for (const [name, answered] of others) {
          // The parser and the pipeline have reasons of their own for an invalid request.
          const one: Answered | undefined =
            status === 400 && expected !== undefined ? { ...expected[1], xCache: answered.xCache } : expected?.[1];
          assert.deepEqual(answered, one, `${what}${again}: ${name}`);
        }
      }
    }
  });

  test('a target with bytes beyond ASCII finds its stored object, encoded or not', async (t) => {
    const ways = await startWays(t);
    for (const [name, way] of Object.entries(ways)) {
      for (const [target, xCache] of [
        ['/caf\xc3\xa9', 'MISS'],
        ['/caf\xc3\xa9', 'HIT'],
        ['/caf%C3%A9', 'HIT'],
        ['/caf%c3%a9', 'HIT'],
        ['/caf\xe9', 'MISS'],
      ] as const)
        assert.equal((await way({ target })).xCache, xCache, `${name}: ${target}`);
    }
  });
});
