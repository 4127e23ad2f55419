/** Requests of HTTP/2 made at random, most of them odd: whatever becomes of one, it has one line in the log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SITE_HOST } from '../support/edge/edge.ts';
import { connectFrames, FLAGS, fields, frame, uint32 } from '../support/edge/http2-frames.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { reply } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const CONNECTIONS = 10;
const REQUESTS = 60;
const ENDED = FLAGS.endHeaders | FLAGS.endStream;
const CANCEL = 8;

const METHODS = ['GET', 'GET', 'GET', 'GET', 'GET', 'HEAD', 'POST', 'OPTIONS', 'get', 'CONNECT'];
const PATHS = ['/', '/', '/', '/x', '/?a=b', '/%2e%2e/', '//', '/a#b', '*', '/\u00e4', '/%zz', ''];
const NAMES = [
  ...[
    'range',
    'if-none-match',
    'if-modified-since',
    'if-range',
    'if-match',
    'accept-encoding',
    'user-agent',
    'referer',
  ],
  ...[
    'cookie',
    'host',
    'content-length',
    'expect',
    'te',
    'cache-control',
    'pragma',
    'authorization',
    'via',
    'cdn-loop',
  ],
  ...['x-forwarded-for', 'forwarded', '__proto__', 'x_y', 'Upper', 'connection', ':path', ':authority', 'trailer'],
];
const VALUES = [
  ...['', ' ', '*', 'bytes=0-', 'bytes=-1', 'bytes=0-0,-1', '"a"', 'W/"a"', 'gzip, br;q=0', 'no-store', 'trailers'],
  ...['100-continue', '1', '-1', SITE_HOST, 'other', '/x?y=%zz', 'Sat, 28 Nov 2026 10:00:00 GMT', 'identity;q=0', '\\'],
];

/** Numbers that are missing before it would be taken for a browser's priorities. */
const FIRST = fields([':method', 'GET'], [':scheme', 'https'], [':authority', SITE_HOST], [':path', '/']);

/** The same numbers each time: 0 ≤ random(n) < n. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return (state >> 8) % below;
  };
}

type Random = ReturnType<typeof createRandom>;

const pick = (random: Random, list: readonly string[]): string => list[random(list.length)] ?? '';

/** Any bytes are a value here: each field is a literal that is not put into the table. */
function field(name: string, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([value.length]), value]);
}

function makeRequest(random: Random, stream: number): Buffer {
  const value = () =>
    Buffer.from(random(3) > 0 ? pick(random, VALUES) : Array.from({ length: random(20) }, () => random(256)));
  const section = [
    field(':method', Buffer.from(pick(random, METHODS))),
    field(':scheme', Buffer.from(random(20) > 0 ? 'https' : 'http')),
    field(':authority', Buffer.from(random(15) > 0 ? SITE_HOST : pick(random, VALUES))),
    field(':path', Buffer.from(pick(random, PATHS))),
    ...Array.from({ length: random(5) }, () => field(pick(random, NAMES), value())),
  ];
  const isWhole = random(10) > 0;
  return Buffer.concat([
    frame('headers', isWhole ? ENDED : FLAGS.endHeaders, stream, Buffer.concat(section)),
    ...(isWhole ? [] : [frame('data', FLAGS.endStream, stream, Buffer.alloc(random(4), 'x'))]),
    ...(random(30) > 0 ? [] : [frame('reset', 0, stream, uint32(CANCEL))]),
  ]);
}

test('every odd HTTP/2 request has one log line', needs('openssl', 'curl'), async (t) => {
  const edge = await startHttpsEdge(t, reply('hello', { 'cache-control': 'max-age=60', etag: '"a"' }), {
    limits: { clientIdleMs: 1_000, requestMs: 2_000, requestHeaderMs: 2_000 },
  });
  for (let i = 0; i < 2; i++) await edge.curl(`https://${SITE_HOST}/`);
  const random = createRandom(42);
  for (let connection = 1; connection <= CONNECTIONS; connection++) {
    const expected = 2 + connection * REQUESTS;
    const client = await connectFrames(edge.httpsPort, SITE_HOST);
    await client.send(frame('headers', ENDED, 1, FIRST));
    for (let i = 1; i < REQUESTS; i++) {
      await client.send(makeRequest(random, 2 * i + 1));
      if (random(4) === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    // What was refused behind the last good one is told when the connection ends.
    await eventually('all is answered', () => edge.edge.underWay === 0 && client.socket.bytesRead > 0);
    client.socket.end();
    await eventually(`connection ${connection}: ${edge.log.length} of ${expected}`, () => edge.log.length >= expected);
    assert.equal(edge.log.length, expected);
  }
  const codes = new Set(edge.log.map((fields) => fields.result));
  for (const code of ['TCP_MEM_HIT/200', 'NONE/400', 'TCP_DENIED/403', 'NONE/417']) assert.ok(codes.has(code), code);
  assert.equal((await edge.curl(`https://${SITE_HOST}/`)).status, 200);
});
