/** Whose line a request is that was refused, or left, before its site was looked up. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { test } from 'node:test';
import { startByteCounter } from '../support/edge/byte-counter.ts';
import { connectRaw, loopback, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { HANDSHAKE, startPeer } from '../support/edge/web-socket.ts';
import { eventually } from '../support/eventually.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;

interface Line {
  readonly domainId: number;
  readonly host: string | undefined;
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly status: number;
  readonly requestBytes: number;
}

function keepLines() {
  const lines: Line[] = [];
  const write = (domainId: number, record: Omit<Line, 'domainId'>) => void lines.push({ ...record, domainId });
  return { lines, accessLog: { write, writeHit: () => undefined, countOrigin: () => undefined } };
}

test('a refused request is a line of the domain that it names, if its Host could be read', async (t) => {
  const { lines, accessLog } = keepLines();
  const edge = await startTestEdge(t, [1], { accessLog });
  const rows: readonly (readonly [bytes: string, status: number, domainId: number, host: string | undefined])[] = [
    [`GET /a HTTP/1.1\r\n${HOST}Referer: a\r\nReferer: b\r\n\r\n`, 400, 1, SITE_HOST],
    [`GET /%zz HTTP/1.1\r\nHost: WWW.example.com.:80\r\n\r\n`, 400, 1, SITE_HOST],
    [`GET /${'x'.repeat(8192)} HTTP/1.1\r\n${HOST}\r\n`, 414, 1, SITE_HOST],
    [`GET / HTTP/0.9\r\n${HOST}\r\n`, 505, 1, SITE_HOST],
    [`GET http://other.example/ HTTP/1.1\r\n${HOST}\r\n`, 400, 1, SITE_HOST],
    [`TRACE / HTTP/1.1\r\n${HOST}\r\n`, 405, 1, SITE_HOST],
    [`CONNECT x:443 HTTP/1.1\r\n${HOST}\r\n`, 405, 1, SITE_HOST],
    [`GET /%zz HTTP/1.1\r\nHost: unknown.example\r\n\r\n`, 400, 0, 'unknown.example'],
    [`GET / HTTP/1.1\r\n${HOST}Host: other.example\r\n\r\n`, 400, 0, SITE_HOST],
    [`GET / HTTP/1.1\r\nHost: ${SITE_HOST}/x\r\n\r\n`, 400, 0, `${SITE_HOST}/x`],
    // The parser gives nothing of what it does not take.
    [`GET / HTTP/1.1\r\n${HOST}bad line\r\n\r\n`, 400, 0, undefined],
  ];
  for (const [bytes, status, domainId, host] of rows) {
    lines.length = 0;
    const client = connectRaw(edge.port, bytes);
    await eventually(bytes, () => lines.length === 1);
    client.socket.destroy();
    const [line] = lines;
    assert.deepEqual([line?.status, line?.domainId, line?.host], [status, domainId, host], bytes);
    if (host === undefined) continue;
    const [method, target] = bytes.split(' ');
    assert.equal(line?.method, method);
    assert.equal(line?.target, target?.replace('http://other.example', ''));
    assert.equal(line?.requestBytes, bytes.length);
  }
});

test('a request that waited while its client left is a line of the domain that it names', async (t) => {
  const { lines, accessLog } = keepLines();
  const { edge, origin } = await startSite(t, () => undefined, { accessLog });
  const client = connectRaw(edge.port, `GET /1 HTTP/1.1\r\n${HOST}\r\nGET /2 HTTP/1.1\r\n${HOST}\r\n`);
  await eventually('asked', () => origin.requests.length === 1);
  client.socket.resetAndDestroy();
  await eventually('both have ended', () => lines.length === 2);
  const seen = lines.map(({ domainId, host, target, status }) => [domainId, host, target, status]);
  assert.deepEqual(seen.sort(), [
    [1, SITE_HOST, '/1', 499],
    [1, SITE_HOST, '/2', 499],
  ]);
});

test('a closed edge has written all lines, those of connections that it cut too', async (t) => {
  const peer = await startPeer(t);
  const client = connectRaw(peer.port, HANDSHAKE);
  await eventually('open', () => client.text().includes(' 101 '));
  const origin = await startOrigin(t, (_request, response) => void response.writeHead(200).write('begun'));
  peer.put({ name: 'b.example.com', origins: { ...NO_ORIGINS, primary: loopback([origin.port]) } });
  const download = connectRaw(peer.port, 'GET / HTTP/1.1\r\nHost: b.example.com\r\n\r\n');
  await eventually('begun', () => download.text().includes('begun'));
  const large = await startOrigin(t, reply('x'.repeat(8_000_000), { 'cache-control': 'max-age=60' }));
  peer.put({ name: 'c.example.com', origins: { ...NO_ORIGINS, primary: loopback([large.port]) } });
  await peer.get('/', { host: 'c.example.com' });
  const stalled = connect(peer.port, '127.0.0.1').pause();
  stalled.write('GET / HTTP/1.1\r\nHost: c.example.com\r\n\r\n');
  await eventually('under way', () => peer.edge.underWay === 3);
  await peer.edge.close(0);
  const seen = peer.log.map((fields) => `${fields.host} ${fields.result}`).sort();
  assert.deepEqual(seen, [
    'b.example.com TCP_MISS/503',
    'c.example.com TCP_MISS/200',
    'c.example.com TCP_MISS/503',
    'www.example.com TCP_MISS/101',
  ]);
  stalled.destroy();
});

test('each line has the bytes that were sent, for requests of every kind', async (t) => {
  const { edge } = await startSite(t, ({ target, method, body }, response) => {
    const type = { 'content-type': 'text/plain' };
    if (target === '/missing') response.writeHead(404, type).end('no');
    else if (method !== 'GET' && method !== 'HEAD') response.writeHead(200, type).end(`${body.length} bytes`);
    else response.writeHead(200, { ...type, 'cache-control': 'max-age=60', etag: '"a"' }).end('x'.repeat(50_000));
  });
  const get = (path: string, more = '', method = 'GET') => `${method} ${path} HTTP/1.1\r\n${HOST}${more}\r\n`;
  const post = get('/post', 'Content-Length: 5\r\n', 'POST');
  const kinds: Readonly<Record<string, string>> = {
    'a miss': get('/a'),
    'a hit': get('/a'),
    'a hit with fields': get('/a', 'User-Agent: x\r\nReferer: http://y/\r\nX-Other: z\r\n'),
    'several hits at once': get('/a').repeat(5),
    HEAD: get('/a', '', 'HEAD'),
    'a condition that holds': get('/a', 'If-None-Match: "a"\r\n'),
    'a range': get('/a', 'Range: bytes=1-5\r\n'),
    'two ranges': get('/a', 'Range: bytes=1-5,10-20\r\n'),
    'a range beyond the end': get('/a', 'Range: bytes=99999-\r\n'),
    'an error of the origin': get('/missing'),
    'an upload': `${post}hello`,
    'an upload between others': `${get('/a')}${post}hello${get('/a')}`,
    'an upload that waits': `${get('/post', 'Content-Length: 5\r\nExpect: 100-continue\r\n', 'POST')}hello`,
    'a long head': get('/a', `X-Long: ${'y'.repeat(20_000)}\r\n`),
    'an absolute target': get(`http://${SITE_HOST}/a`),
    'a last request': get('/a', 'Connection: close\r\n'),
    'HTTP/1.0': `GET /a HTTP/1.0\r\n${HOST}\r\n`,
    'a refused one': get('/%zz'),
    'a method that is refused': get('/a', '', 'TRACE'),
    CONNECT: get('x:1', '', 'CONNECT'),
  };
  for (const [kind, bytes] of Object.entries(kinds)) {
    edge.log.length = 0;
    const counter = await startByteCounter(t, edge.port);
    const client = connectRaw(counter.port, bytes);
    const requests = bytes.match(/HTTP\/1\.\d\r\n/g)?.length ?? 0;
    await eventually(kind, () => edge.log.length === requests);
    const sum = (field: 'requestBytes' | 'responseBytes') => edge.log.reduce((total, line) => total + line[field], 0);
    await eventually(`${kind}: all has passed`, () => counter.toClients >= sum('responseBytes'));
    assert.deepEqual([sum('requestBytes'), sum('responseBytes')], [counter.toEdge, counter.toClients], kind);
    client.socket.destroy();
  }
});

const cuts: readonly (readonly [what: string, more: string, asked: number, bytes: number, requests: number])[] = [
  ['from the origin', '', 0, 20_000_000, 1],
  ['by node:http', 'Content-Length: 0\r\n', 0, 20_000_000, 1],
  ['out of memory', '', 1, 20_000_000, 1],
  ['that were kept ready', '', 2, 1_000_000, 20], // more together than a system keeps for a connection
];
for (const [what, more, asked, bytes, requests] of cuts) {
  test(`lines of answers that a stop cuts have the bytes that their client receives: ${what}`, async (t) => {
    const { edge } = await startSite(t, reply('x'.repeat(bytes), { 'cache-control': 'max-age=600' }), {
      cacheBytes: 256 * 1024 * 1024,
    });
    for (let n = 0; n < asked; n++) await edge.get('/');
    edge.log.length = 0;
    const client = connect(edge.port, '127.0.0.1');
    client.write(`GET / HTTP/1.1\r\n${HOST}${more}\r\n`.repeat(requests));
    await once(client, 'readable'); // and no more of it is taken
    await edge.edge.close(0);
    await eventually('logged', () => edge.log.length === requests);
    const text = await readText(client);
    assert.equal(
      edge.log.reduce((sum, fields) => sum + fields.responseBytes, 0),
      text.length,
    );
    assert.ok(edge.log.some((fields) => fields.result.endsWith('/503') === true && fields.responseBytes !== 0));
  });
}

test('a request whose site cannot be looked up is answered 500, and is a line of no domain', async (t) => {
  const { lines, accessLog } = keepLines();
  const find = () => {
    throw new Error('the file is damaged');
  };
  const edge = await startTestEdge(t, [1], {
    accessLog,
    sites: { find, compileLike: () => undefined, changes: 0, forget: () => undefined },
  });
  for (const bytes of [
    `GET /a HTTP/1.1\r\n${HOST}\r\n`,
    `GET /%zz HTTP/1.1\r\n${HOST}\r\n`,
    `CONNECT x:1 HTTP/1.1\r\n${HOST}\r\n`,
  ]) {
    const client = connectRaw(edge.port, bytes);
    await eventually(bytes, () => client.text().includes('\r\n\r\n'));
    client.socket.destroy();
  }
  await eventually('each has its line', () => lines.length === 3);
  assert.deepEqual(
    lines.map(({ domainId, host, status }) => [domainId, host, status]),
    [
      [0, SITE_HOST, 500],
      [0, SITE_HOST, 400],
      [0, SITE_HOST, 405],
    ],
  );
});
