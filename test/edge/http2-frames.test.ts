/**
 * What a client may say over HTTP/2, frame by frame, and what becomes of it: bytes sent, and what is expected. A table of the rules of
 * RFC 9113 and RFC 7541; the sections are named.
 */
import { describe, test } from 'node:test';
import { loopback, NO_ORIGINS, SITE_HOST } from '../support/edge/edge.ts';
import {
  connectFrames,
  FLAGS,
  type FrameClient,
  fields,
  frame,
  PREFACE,
  uint32,
} from '../support/edge/http2-frames.ts';
import { type HttpsEdge, startHttpsEdge } from '../support/edge/https-edge.ts';
import { reply, startRawOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const NEEDS = needs('openssl');

const REQUEST = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', SITE_HOST],
  [':path', '/'],
] as const;
type Pair = readonly [name: string, value: string];
const without = (name: string): readonly Pair[] => REQUEST.filter((pair) => pair[0] !== name);
const instead = (name: string, value: string): readonly Pair[] =>
  REQUEST.map((pair) => (pair[0] === name ? [name, value] : pair));

const WHOLE = FLAGS.endHeaders | FLAGS.endStream;
const ask = (stream: number, pairs: readonly Pair[] = REQUEST, flags: number = WHOLE) =>
  frame('headers', flags, stream, fields(...pairs));
const post = (stream: number, ...more: readonly Pair[]) =>
  ask(stream, [...instead(':method', 'POST'), ...more], FLAGS.endHeaders);
const data = (stream: number, text: string, flags = 0) => frame('data', flags, stream, Buffer.from(text));
const setting = (name: number, value: number) => Buffer.concat([Buffer.from([0, name]), uint32(value)]);
const unknown = (stream: number) => {
  const bytes = frame('ping', 0xff, stream, Buffer.alloc(8));
  bytes[3] = 0x77;
  return bytes;
};
/** A head that says more than there is. */
const claim = (bytes: Buffer, length: number) => {
  const changed = Buffer.from(bytes);
  changed.writeUIntBE(length, 0, 3);
  return changed;
};

/** `answer 1`: stream 1 gets one; `reset 1 5`: it is reset with code 5; `goaway 1`: the connection ends so; `ping`: it goes on. */
type Row = readonly [what: string, sent: readonly Buffer[], expected: string];

const ALIVE = frame('ping', 0, 0, Buffer.from('12345678'));
const CODES = { protocol: 1, flow: 3, closed: 5, size: 6, refused: 7, compression: 9, calm: 11 } as const;
const GOAWAY = {
  protocol: `goaway ${CODES.protocol}`,
  flow: `goaway ${CODES.flow}`,
  closed: `goaway ${CODES.closed}`,
  size: `goaway ${CODES.size}`,
  compression: `goaway ${CODES.compression}`,
  calm: `goaway ${CODES.calm}`,
} as const;
const MALFORMED = `reset 1 ${CODES.protocol}`;

const FRAMES: readonly Row[] = [
  ['§4.1 a frame of an unknown type is ignored', [unknown(0), unknown(1), ask(1)], 'answer 1'],
  ['§4.1 flags that mean nothing are ignored', [frame('ping', 0xfe, 0, Buffer.from('12345678'))], 'ping'],
  [
    '§4.1 the first bit of a stream means nothing',
    [frame('headers', WHOLE, 0x80000001, fields(...REQUEST))],
    'answer 1',
  ],
  ['§4.2 a frame larger than agreed', [claim(data(1, 'x'), 16_385)], GOAWAY.size],
  [
    '§4.3 HEADERS that go on',
    [
      ask(1, REQUEST.slice(0, 2), FLAGS.endStream),
      frame('more', 0, 1, fields(...REQUEST.slice(2, 3))),
      frame('more', FLAGS.endHeaders, 1, fields(...REQUEST.slice(3))),
    ],
    'answer 1',
  ],
  ['§6.10 another frame in between', [ask(1, REQUEST, FLAGS.endStream), ALIVE], GOAWAY.protocol],
  ['§6.10 an unknown frame in between', [ask(1, REQUEST, FLAGS.endStream), unknown(1)], GOAWAY.protocol],
  [
    '§6.10 one of another stream',
    [ask(1, REQUEST, FLAGS.endStream), frame('more', FLAGS.endHeaders, 3, fields())],
    GOAWAY.protocol,
  ],
  ['§6.10 one behind nothing', [frame('more', FLAGS.endHeaders, 1, fields(...REQUEST))], GOAWAY.protocol],
  ['§6.10 one behind HEADERS that had ended', [ask(1), frame('more', FLAGS.endHeaders, 1, fields())], GOAWAY.protocol],
  [
    '§10.5 more CONTINUATION than any request needs',
    [ask(1, REQUEST, FLAGS.endStream), ...Array.from({ length: 40 }, () => frame('more', 0, 1))],
    GOAWAY.calm,
  ],
  ['§5.1 DATA on an idle stream', [data(1, 'x')], GOAWAY.protocol],
  ['§5.1 RST_STREAM on an idle stream', [frame('reset', 0, 1, uint32(8))], GOAWAY.protocol],
  ['§5.1 WINDOW_UPDATE on an idle stream', [frame('window', 0, 1, uint32(1))], GOAWAY.protocol],
  ['§5.1 PRIORITY on an idle stream is ignored', [frame('priority', 0, 1, Buffer.alloc(5)), ask(1)], 'answer 1'],
  ['§5.1 DATA behind the end of a request', [ask(1), data(1, 'x')], GOAWAY.closed],
  ['§5.1 HEADERS behind the end of a request', [ask(1, instead(':path', '/slow')), ask(1)], GOAWAY.closed],
  ['§5.1 DATA behind a reset', [post(1), frame('reset', 0, 1, uint32(8)), data(1, 'x')], GOAWAY.closed],
  [
    '§5.1 what comes of a stream that we have reset is dropped',
    [
      ask(1, [...REQUEST, ['Upper', 'x']], FLAGS.endHeaders),
      data(1, 'x'.repeat(100)),
      data(1, '', FLAGS.endStream),
      ask(3),
    ],
    'answer 3',
  ],
  [
    '§5.1 WINDOW_UPDATE and RST_STREAM of a closed stream are ignored',
    [ask(1), frame('window', 0, 1, uint32(1)), frame('reset', 0, 1, uint32(8)), ask(3)],
    'answer 3',
  ],
  ['§5.1.1 a stream with an even number', [ask(2)], GOAWAY.protocol],
  ['§5.1.1 a stream with a smaller number', [ask(5), ask(3)], GOAWAY.closed],
  ['§5.1.1 the largest number', [ask(2 ** 31 - 1)], `answer ${2 ** 31 - 1}`],
  ['§5.1.1 none is behind the largest number', [ask(2 ** 31 - 1), ask(1)], GOAWAY.closed],
  ['§5.1 DATA on a stream that only we could open', [data(2, 'x')], GOAWAY.protocol],
  ['§6.1 DATA on stream 0', [data(0, 'x')], GOAWAY.protocol],
  [
    '§6.1 DATA with padding',
    [post(1), frame('data', FLAGS.padded | FLAGS.endStream, 1, Buffer.from([2, 0x61, 0, 0]))],
    'answer 1',
  ],
  [
    '§6.1 more padding than there is',
    [post(1), frame('data', FLAGS.padded, 1, Buffer.from([4, 0x61, 0, 0]))],
    GOAWAY.protocol,
  ],
  ['§6.1 padding without a length', [post(1), frame('data', FLAGS.padded, 1)], GOAWAY.protocol],
  ['§6.2 HEADERS on stream 0', [ask(0)], GOAWAY.protocol],
  [
    '§6.2 HEADERS with padding and priority',
    [
      frame(
        'headers',
        WHOLE | FLAGS.padded | FLAGS.priority,
        1,
        Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 9]), fields(...REQUEST), Buffer.alloc(3)]),
      ),
    ],
    'answer 1',
  ],
  [
    '§6.2 more padding than there is',
    [frame('headers', WHOLE | FLAGS.padded, 1, Buffer.from([9, 0x82]))],
    GOAWAY.protocol,
  ],
  ['§6.3 PRIORITY on stream 0', [frame('priority', 0, 0, Buffer.alloc(5))], GOAWAY.protocol],
  ['§6.3 PRIORITY of another size', [frame('priority', 0, 1, Buffer.alloc(4))], GOAWAY.size],
  ['§6.4 RST_STREAM on stream 0', [frame('reset', 0, 0, uint32(8))], GOAWAY.protocol],
  ['§6.4 RST_STREAM of another size', [post(1), frame('reset', 0, 1, Buffer.alloc(3))], GOAWAY.size],
  ['§6.5 SETTINGS on a stream', [frame('settings', 0, 1)], GOAWAY.protocol],
  ['§6.5 SETTINGS of another size', [frame('settings', 0, 0, Buffer.alloc(5))], GOAWAY.size],
  ['§6.5 an acknowledgement that says something', [frame('settings', FLAGS.ack, 0, setting(1, 1))], GOAWAY.size],
  ['§6.5.2 ENABLE_PUSH that is neither 0 nor 1', [frame('settings', 0, 0, setting(2, 2))], GOAWAY.protocol],
  ['§6.5.2 a window that is too large', [frame('settings', 0, 0, setting(4, 2 ** 31))], GOAWAY.flow],
  ['§6.5.2 frames that are too small', [frame('settings', 0, 0, setting(5, 2 ** 14 - 1))], GOAWAY.protocol],
  ['§6.5.2 frames that are too large', [frame('settings', 0, 0, setting(5, 2 ** 24))], GOAWAY.protocol],
  ['§6.5.2 a setting that nobody knows', [frame('settings', 0, 0, setting(0x99, 1)), ask(1)], 'answer 1'],
  [
    '§6.5 more settings than there are',
    [frame('settings', 0, 0, Buffer.concat(Array<Buffer>(33).fill(setting(4, 1))))],
    GOAWAY.calm,
  ],
  ['§6.6 PUSH_PROMISE', [frame('push', FLAGS.endHeaders, 1, uint32(2))], GOAWAY.protocol],
  ['§6.7 PING', [ALIVE], 'ping'],
  ['§6.7 PING on a stream', [frame('ping', 0, 1, Buffer.alloc(8))], GOAWAY.protocol],
  ['§6.7 PING of another size', [frame('ping', 0, 0, Buffer.alloc(7))], GOAWAY.size],
  ['§6.7 the answer to a PING is not answered', [frame('ping', FLAGS.ack, 0, Buffer.alloc(8)), ask(1)], 'answer 1'],
  ['§6.8 GOAWAY on a stream', [frame('goaway', 0, 1, Buffer.alloc(8))], GOAWAY.protocol],
  [
    '§6.8 a client that says good-bye gets its answer, and a good-bye',
    [ask(1, instead(':path', '/late')), frame('goaway', 0, 0, Buffer.alloc(8))],
    'answer 1, goaway 0',
  ],
  [
    '§6.9 a window that grows by nothing',
    [ask(1, instead(':path', '/slow')), frame('window', 0, 1, uint32(0))],
    MALFORMED,
  ],
  ['§6.9 the same of the connection', [frame('window', 0, 0, uint32(0))], GOAWAY.protocol],
  ['§6.9 WINDOW_UPDATE of another size', [frame('window', 0, 0, Buffer.alloc(3))], GOAWAY.size],
  [
    '§6.9.1 a window that grows beyond its size',
    [ask(1, instead(':path', '/slow')), frame('window', 0, 1, uint32(2 ** 31 - 1))],
    `reset 1 ${CODES.flow}`,
  ],
  ['§6.9.1 the same of the connection', [frame('window', 0, 0, uint32(2 ** 31 - 1))], GOAWAY.flow],
  [
    '§6.9.2 a setting that makes a window larger than that',
    [
      ask(1, instead(':path', '/slow')),
      frame('window', 0, 1, uint32(2 ** 30)),
      frame('settings', 0, 0, setting(4, 2 ** 31 - 1)),
    ],
    GOAWAY.flow,
  ],
];

const FIELDS: readonly Row[] = [
  [
    '§8.1 trailers end a request',
    [post(1), data(1, 'abc'), frame('headers', WHOLE, 1, fields(['x-sum', '1']))],
    'answer 1',
  ],
  ['§8.1 trailers that do not', [post(1), frame('headers', FLAGS.endHeaders, 1, fields(['x-sum', '1']))], MALFORMED],
  [
    '§8.1 a pseudo-header field among trailers',
    [post(1), frame('headers', WHOLE, 1, fields([':path', '/']))],
    MALFORMED,
  ],
  [
    '§8.1.1 a body as long as announced',
    [post(1, ['content-length', '3']), data(1, 'ab'), data(1, 'c', FLAGS.endStream)],
    'answer 1',
  ],
  ['§8.1.1 a body that is longer', [post(1, ['content-length', '3']), data(1, 'abcd')], MALFORMED],
  ['§8.1.1 a body that is shorter', [post(1, ['content-length', '3']), data(1, 'ab', FLAGS.endStream)], MALFORMED],
  [
    '§8.1.1 a body that is shorter, and trailers',
    [post(1, ['content-length', '3']), frame('headers', WHOLE, 1, fields(['a', 'b']))],
    MALFORMED,
  ],
  ['§8.1.1 a length without a body', [ask(1, [...REQUEST, ['content-length', '3']])], MALFORMED],
  ['§8.1.1 a length of nothing', [ask(1, [...REQUEST, ['content-length', '0']])], 'answer 1'],
  ['§8.1.1 a length that is none', [post(1, ['content-length', '-3'])], MALFORMED],
  ['§8.1.1 two lengths', [post(1, ['content-length', '3'], ['content-length', '3'])], MALFORMED],
  ['§8.2 a name in upper case', [ask(1, [...REQUEST, ['X-a', 'b']])], MALFORMED],
  ['§8.2.1 a name that is none', [ask(1, [...REQUEST, ['x a', 'b']])], MALFORMED],
  ['§8.2.1 no name', [ask(1, [...REQUEST, ['', 'b']])], MALFORMED],
  ['§8.2.1 a line end in a value', [ask(1, [...REQUEST, ['x', 'a\r\nb: c']])], MALFORMED],
  ['§8.2.1 a NUL in a value', [ask(1, [...REQUEST, ['x', 'a\0b']])], MALFORMED],
  ['§8.2.1 a blank before a value', [ask(1, [...REQUEST, ['x', ' a']])], MALFORMED],
  ['§8.2.1 a blank behind a value', [ask(1, [...REQUEST, ['x', 'a\t']])], MALFORMED],
  ['§8.2.2 Connection', [ask(1, [...REQUEST, ['connection', 'close']])], MALFORMED],
  ['§8.2.2 Transfer-Encoding', [post(1, ['transfer-encoding', 'chunked'])], MALFORMED],
  ['§8.2.2 Upgrade', [ask(1, [...REQUEST, ['upgrade', 'websocket']])], MALFORMED],
  ['§8.2.2 Keep-Alive', [ask(1, [...REQUEST, ['keep-alive', 'x']])], MALFORMED],
  ['§8.2.2 Proxy-Connection', [ask(1, [...REQUEST, ['proxy-connection', 'x']])], MALFORMED],
  ['§8.2.2 TE: trailers', [ask(1, [...REQUEST, ['te', 'trailers']])], 'answer 1'],
  ['§8.2.2 another TE', [ask(1, [...REQUEST, ['te', 'gzip']])], MALFORMED],
  ['§8.3 a pseudo-header field that nobody knows', [ask(1, [[':own', 'x'], ...REQUEST])], MALFORMED],
  ['§8.3 one of an answer', [ask(1, [[':status', '200'], ...REQUEST])], MALFORMED],
  ['§8.3 one behind others', [ask(1, [...without(':path'), ['x', 'a'], [':path', '/']])], MALFORMED],
  ['§8.3 one that comes twice', [ask(1, [...REQUEST, [':path', '/']])], MALFORMED],
  ['§8.3.1 no method', [ask(1, without(':method'))], MALFORMED],
  ['§8.3.1 no scheme', [ask(1, without(':scheme'))], MALFORMED],
  ['§8.3.1 no path', [ask(1, without(':path'))], MALFORMED],
  ['§8.3.1 an empty path', [ask(1, instead(':path', ''))], MALFORMED],
  ['§8.3.1 a path that is on no server', [ask(1, instead(':path', 'x'))], MALFORMED],
  ['§8.3.1 a path in absolute form', [ask(1, instead(':path', 'https://other.example.com/'))], MALFORMED],
  ['§8.3.1 no host', [ask(1, without(':authority'))], MALFORMED],
  ['§8.3.1 Host in its place', [ask(1, [...without(':authority'), ['host', SITE_HOST]])], 'answer 1'],
  [
    '§8.4 extended CONNECT, which is not offered',
    [ask(1, [...instead(':method', 'CONNECT'), [':protocol', 'websocket']])],
    MALFORMED,
  ],
  ['§8.5 CONNECT with a path', [ask(1, instead(':method', 'CONNECT'))], MALFORMED],
  [
    '§8.5 CONNECT',
    [
      ask(1, [
        [':method', 'CONNECT'],
        [':authority', SITE_HOST],
      ]),
    ],
    'answer 1',
  ],
  ['RFC 7541 §2.3.3 an index that is nothing', [frame('headers', WHOLE, 1, Buffer.from([0x80]))], GOAWAY.compression],
  [
    'RFC 7541 §4.2 a table larger than it may be',
    [frame('headers', WHOLE, 1, Buffer.from([0x3f, 0xe2, 0x1f]))],
    GOAWAY.compression,
  ],
  [
    'RFC 7541 §4.2 a size of the table behind a field',
    [frame('headers', WHOLE, 1, Buffer.from([0x82, 0x20]))],
    GOAWAY.compression,
  ],
  [
    'RFC 7541 §5.2 a text that does not end',
    [frame('headers', WHOLE, 1, Buffer.from([0x00, 0x85, 0xf2]))],
    GOAWAY.compression,
  ],
  [
    'RFC 7541 §4.3 fields of refused requests are in the table',
    [
      frame('headers', WHOLE, 1, Buffer.concat([Buffer.from([0x40, 1, 0x58, 1, 0x61])])),
      frame('headers', WHOLE, 3, Buffer.concat([fields(...REQUEST), Buffer.from([0x40, 1, 0x79, 1, 0x62, 0xbe])])),
    ],
    'answer 3',
  ],
];

const BEGINNINGS: readonly Row[] = [
  ['§3.4 something else than the preface', [Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')], GOAWAY.protocol],
  ['§3.4 another frame than SETTINGS', [PREFACE, ALIVE], GOAWAY.protocol],
  ['§3.4 the acknowledgement of SETTINGS alone', [PREFACE, frame('settings', FLAGS.ack, 0)], GOAWAY.protocol],
];

async function check(edge: HttpsEdge, [what, sent, expected]: Row, beginning?: Buffer): Promise<void> {
  const client = await connectFrames(edge.httpsPort, SITE_HOST, undefined, beginning);
  await client.send(Buffer.concat(sent));
  const seen = () => describeSeen(client);
  for (const one of expected.split(', '))
    await eventually(`${what}: ${one}, seen: ${seen()}`, () => seen().includes(one));
  if (expected.startsWith('goaway')) await client.closed;
  client.socket.destroy();
}

function describeSeen({ frames }: FrameClient): readonly string[] {
  return frames.flatMap(({ type, flags, stream, payload }) => {
    if (type === 'goaway') return [`goaway ${payload.readUInt32BE(4)}`];
    if (type === 'reset') return [`reset ${stream} ${payload.readUInt32BE(0)}`];
    if (type === 'ping' && (flags & FLAGS.ack) !== 0) return ['ping'];
    if ((type === 'data' || type === 'headers') && (flags & FLAGS.endStream) !== 0) return [`answer ${stream}`];
    return [];
  });
}

describe('frames', NEEDS, () => {
  test('each frame out of the table gets its answer', async (t) => {
    const edge = await startHttpsEdge(t, (request, response) => {
      if (request.target === '/slow') return;
      if (request.target === '/late') setTimeout(() => reply('late')(request, response), 50);
      else reply('hello')(request, response);
    });
    for (const row of [...FRAMES, ...FIELDS]) await t.test(row[0], () => check(edge, row));
    for (const row of BEGINNINGS) await t.test(row[0], () => check(edge, row, Buffer.concat(row[1])));
    await eventually('nothing is under way', () => edge.edge.underWay === 0);
  });

  test("§6.9.1 a body beyond its stream's window is an error, even if nothing reads the body", async (t) => {
    // Without buffers it is passed on, and an origin that reads nothing holds it up.
    const limits = { maxBufferMemoryBytes: 0, maxBufferFiles: 0 };
    const edge = await startHttpsEdge(t, undefined, { limits });
    const { port } = await startRawOrigin(t, (socket) => void socket.pause());
    edge.putTls(SITE_HOST, {}, { origins: { ...NO_ORIGINS, primary: loopback([port]) } });
    const beyond = [post(1), ...Array.from({ length: 64 }, () => data(1, 'x'.repeat(16_000)))];
    await check(edge, ['', beyond, `reset 1 ${CODES.flow}`]);
  });
});
