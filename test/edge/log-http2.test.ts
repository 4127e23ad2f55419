/**
 * Bytes in the lines of HTTP/2: of each request exactly those that its client sent and received, with its fields as HTTP/1.1 writes
 * them. By the client's own count, of the fields and pieces of bodies that came out of its frames.
 */
import assert from 'node:assert/strict';
import { type ClientHttp2Stream, constants, type OutgoingHttpHeaders } from 'node:http2';
import { type TestContext, test } from 'node:test';
import { SITE_HOST } from '../support/edge/edge.ts';
import { open } from '../support/edge/http2-client.ts';
import { connectFrames, FLAGS, fields, frame } from '../support/edge/http2-frames.ts';
import { type HttpsEdge, startHttpsEdge } from '../support/edge/https-edge.ts';
import { type Answer, reply } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const LARGE = 300_000;
const FRESH = { 'cache-control': 'max-age=600', etag: '"a"', 'content-type': 'text/plain' };

/** A first window, which the frames of the second test do not widen. RFC 9113 §6.9.2 */
const FIRST_WINDOW = 65_535;

interface Count {
  sent: number;
  received: number;
}

function startEdge(t: TestContext, options?: Parameters<typeof startHttpsEdge>[2]): Promise<HttpsEdge> {
  const answer: Answer = (request, response) => {
    const { target, method, body } = request;
    if (target === '/missing') reply('no', {}, 404)(request, response);
    else if (target === '/early') response.writeEarlyHints({ link: '</a>; rel=preload' }, () => response.end('late'));
    else if (method === 'POST') reply(`${body.length} bytes`)(request, response);
    else if (target === '/large') reply('x'.repeat(LARGE), FRESH)(request, response);
    else if (target === '/cold') reply('x'.repeat(LARGE))(request, response);
    else reply('x'.repeat(5_000), FRESH)(request, response);
  };
  return startHttpsEdge(t, answer, options);
}

test(
  'bytes in the log are those that an HTTP/2 client counts, for requests of every kind',
  needs('openssl'),
  async (t) => {
    const edge = await startEdge(t);
    const session = open(t, edge);
    const body = 'y'.repeat(1_000);
    const post = { ':method': 'POST' };
    const kinds: Readonly<Record<string, readonly (readonly [headers: OutgoingHttpHeaders, body?: string])[]>> = {
      'a miss': [[{}]],
      'a hit': [[{}]],
      'a hit that was kept ready': [[{}]],
      'one with fields': [[{ 'user-agent': 'x', referer: 'http://y/', 'x-other': 'z' }]],
      'cookies in pieces': [[{ cookie: ['a=1', 'b=2', 'c=3'] }]],
      'several at once': Array.from({ length: 20 }, () => [{}] as const),
      'large ones side by side': Array.from({ length: 3 }, () => [{ ':path': '/large' }] as const),
      'large ones out of memory': Array.from({ length: 3 }, () => [{ ':path': '/large' }] as const),
      HEAD: [[{ ':method': 'HEAD' }]],
      'a condition that holds': [[{ 'if-none-match': '"a"' }]],
      'a range': [[{ range: 'bytes=1-5' }]],
      'two ranges': [[{ range: 'bytes=1-5,10-20' }]],
      'a range beyond the end': [[{ range: 'bytes=99999-' }]],
      'an error of the origin': [[{ ':path': '/missing' }]],
      'an answer before the answer': [[{ ':path': '/early' }]],
      'an upload': [[post, body]],
      'an upload with a length': [[{ ...post, 'content-length': '1000' }, body]],
      'an upload that waits': [[{ ...post, expect: '100-continue' }, body]],
      'uploads among others': [[{}], [post, body], [{ ':path': '/large' }], [post, body]],
      'a refused one': [[{ ':path': '/%zz' }]],
      'a method that is refused': [[{ ':method': 'TRACE' }]],
      'a long head': [[{ 'x-long': 'y'.repeat(20_000) }]],
      'one that is too long': [[{ 'x-long': 'y'.repeat(40_000) }]],
    };
    for (const [kind, requests] of Object.entries(kinds)) {
      edge.log.length = 0;
      const counts = await Promise.all(
        requests.map(([headers, sent]) => {
          const all = { ':method': 'GET', ':path': '/a', ':authority': SITE_HOST, ...headers };
          const stream = session.request(all, { endStream: sent === undefined });
          if (sent !== undefined) stream.end(sent);
          return count(stream, all, sent);
        }),
      );
      await eventually(kind, () => edge.log.length === requests.length);
      const lines = edge.log.map((line) => `${line.requestBytes} ${line.responseBytes}`);
      assert.deepEqual(lines.sort(), counts.map(({ sent, received }) => `${sent} ${received}`).sort(), kind);
    }
  },
);

test('bytes in the log are those that an HTTP/2 client received before it gave up', needs('openssl'), async (t) => {
  const now = Date.now();
  const edge = await startEdge(t, { clock: () => now }); // heads stay as long as they are
  const session = open(t, edge);
  const ask = (path: string) => {
    const headers = { ':method': 'GET', ':path': path, ':authority': SITE_HOST };
    return count(session.request(headers), headers);
  };
  await ask('/large'); // from then on it is out of memory
  for (const path of ['/cold', '/large', '/large']) {
    const whole = await ask(path);
    const client = await connectFrames(edge.httpsPort, SITE_HOST);
    const head = fields([':method', 'GET'], [':scheme', 'https'], [':authority', SITE_HOST], [':path', path]);
    await client.send(frame('headers', FLAGS.endHeaders | FLAGS.endStream, 1, head));
    const taken = () =>
      client.frames.reduce((sum, { type, payload }) => sum + (type === 'data' ? payload.length : 0), 0);
    await eventually('it waits for the client', () => taken() === FIRST_WINDOW);
    edge.log.length = 0;
    await client.send(frame('reset', 0, 1, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])));
    await eventually('logged', () => edge.log.length === 1);
    const [line] = edge.log;
    assert.deepEqual(
      [line?.result.split('/')[1], line?.responseBytes],
      ['499', whole.received - LARGE + taken()],
      path,
    );
    client.socket.destroy();
  }
});

/** Resolves when the stream has ended. */
function count(stream: ClientHttp2Stream, headers: OutgoingHttpHeaders, body = ''): Promise<Count> {
  const fieldsSent = Object.entries(headers).flatMap(([name, value]) => [name, [value].flat().join('; ')]);
  const counted: Count = { sent: requestBytes(headers, fieldsSent) + body.length, received: 0 };
  const addHead = (_headers: unknown, _flags: unknown, raw: readonly string[]) => {
    counted.received += 'HTTP/1.1 200 \r\n\r\n'.length + fieldBytes(raw);
  };
  stream.on('headers', addHead).on('response', addHead);
  stream.on('data', (chunk: Buffer) => {
    counted.received += chunk.length;
  });
  return new Promise((resolve, reject) => {
    stream.on('error', reject).on('close', () => resolve(counted));
  });
}

function requestBytes(headers: OutgoingHttpHeaders, raw: readonly string[]): number {
  const line = `${headers[':method']} ${headers[':path']} HTTP/1.1\r\nHost: ${headers[':authority']}\r\n\r\n`;
  return line.length + fieldBytes(raw);
}

/** Pseudo-fields are said in another way. */
function fieldBytes(raw: readonly string[]): number {
  let bytes = 0;
  for (let i = 0; i < raw.length; i += 2)
    if (raw[i]?.startsWith(':') === false) bytes += `${raw[i]}: ${raw[i + 1]}\r\n`.length;
  return bytes;
}
