/** The listener's life, the access log and the metrics. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { connectRaw, fetchFrom, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;
const CLIENTS = 64;

/** Program of a thread that reports when all its sockets are connected. */
const CONNECT = `
  const { parentPort, workerData: { port, count } } = require('node:worker_threads');
  const connected = new Int32Array(new SharedArrayBuffer(4));
  parentPort.postMessage(connected);
  let left = count;
  for (let i = 0; i < count; i++)
    require('node:net').connect({ port, host: '127.0.0.1' }, () => {
      if (--left > 0) return;
      Atomics.store(connected, 0, 1);
      Atomics.notify(connected, 0);
    }).on('error', () => {});
`;

test('a request in flight is answered by the settings that it began with, the next one by the present ones', async (t) => {
  let finish = () => {};
  const { edge, origin } = await startSite(t, (_request, response) => {
    finish = () => void response.writeHead(200, { 'cache-control': 'max-age=60' }).end('late');
  });
  edge.put({ name: SITE_HOST, expiresSeconds: 300 });
  const first = edge.get('/');
  await eventually('asked', () => origin.requests.length === 1);
  edge.put({ name: SITE_HOST, expiresSeconds: 7, access: { deniedAddresses: ['127.0.0.0/8'] } });
  assert.equal((await edge.get('/')).headers['x-cache'], 'DENIED ip');
  finish();
  const { status, headers, body } = await first;
  assert.deepEqual([status, headers['cache-control'], body], [200, 'max-age=300', 'late']);
});

describe('closing the edge', () => {
  test('closing finishes requests in flight, ends their connections, and accepts no new ones', async (t) => {
    let finish = () => {};
    const { edge, origin } = await startSite(t, (_request, response) => {
      finish = () => void response.end('late');
    });
    const client = connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}\r\n`);
    await eventually('asked', () => origin.requests.length === 1);
    const closing = edge.edge.close(10_000);
    await assert.rejects(fetchFrom(edge.port, '/'));
    finish();
    const text = await client.closed;
    assert.match(text, /^HTTP\/1\.1 200 [\s\S]*Connection: close[\s\S]*late/i);
    await closing;
  });

  test('closing is not delayed by idle connections', async (t) => {
    const { edge } = await startSite(t, reply('x'));
    const client = connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}\r\n`);
    await eventually('answered', () => client.text().endsWith('x'));
    await edge.edge.close(60_000);
    await client.closed;
  });

  test('closing cuts what does not finish in time', async (t) => {
    const { edge, origin } = await startSite(t, () => undefined);
    const client = connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}\r\n`);
    await eventually('asked', () => origin.requests.length === 1);
    await edge.edge.close(100);
    assert.equal(await client.closed, '');
    await eventually('logged', () => edge.log[0]?.result === 'NONE/503');
  });

  test('closing cuts an answer out of memory that its client does not read in time', async (t) => {
    const { edge } = await startSite(t, reply('x'.repeat(500_000), { 'cache-control': 'max-age=600' }));
    await edge.get('/');
    const client = connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}\r\n\r\n`.repeat(50));
    client.socket.pause();
    await eventually('it waits', () => edge.edge.underWay === 1);
    await edge.edge.close(100);
    await eventually('logged', () => edge.log.some((fields) => fields.result === 'TCP_MEM_HIT/503'));
  });

  test('closing twice is closing once', async (t) => {
    const edge = await startTestEdge(t, [1]);
    await Promise.all([edge.edge.close(0), edge.edge.close(0)]);
  });
});

describe('listening of the edge', () => {
  test('two edges share a port', async (t) => {
    const port = await freePort();
    const origin = await startOrigin(t, reply('x'));
    const options = { listen: { host: '127.0.0.1', port }, reusePort: true };
    const edges = [await startTestEdge(t, [origin.port], options), await startTestEdge(t, [origin.port], options)];
    await eventually('both serve', async () => {
      await fetchFrom(port, '/');
      return edges.every(({ log }) => log.length > 0);
    });
  });

  test('a taken port is an error at the start', async (t) => {
    const origin = await startOrigin(t, reply('x'));
    await assert.rejects(startTestEdge(t, [], { listen: { host: '127.0.0.1', port: origin.port } }), /EADDRINUSE/);
  });

  test('a port that another edge uses exclusively is an error at the start', async (t) => {
    const listen = { host: '127.0.0.1', port: await freePort() };
    await startTestEdge(t, [], { listen });
    await assert.rejects(startTestEdge(t, [], { listen }), /EADDRINUSE/);
  });

  test('many clients that connect at once are accepted within few turns of the event loop', async (t) => {
    const edge = await startTestEdge(t);
    let taken = 0;
    const count = () => void taken++;
    subscribe('net.server.socket', count);
    t.after(() => unsubscribe('net.server.socket', count));
    const clients = new Worker(CONNECT, { eval: true, workerData: { port: edge.port, count: CLIENTS } });
    t.after(() => clients.terminate());
    const [connected] = await once(clients, 'message');
    // Nobody is taken while this thread waits; the system lets them connect.
    assert.notEqual(Atomics.wait(connected, 0, 0, 20_000), 'timed-out');
    let turns = 0;
    for (; taken < CLIENTS && turns < CLIENTS; turns++) await turn();
    assert.ok(turns < CLIENTS / 3, `${taken} in ${turns} turns`);
  });
});

describe('the access log', () => {
  test('the access log has path and query of an absolute target', async (t) => {
    const edge = await startTestEdge(t, [1]);
    await connectRaw(edge.port, `GET http://${SITE_HOST}/a?b HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`).closed;
    await connectRaw(edge.port, `GET http://${SITE_HOST}?b HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`).closed;
    await eventually('logged', () => edge.log.length === 2);
    assert.deepEqual(
      edge.log.map((fields) => fields.target),
      ['/a?b', '/?b'],
    );
  });

  test('the access log has the requested host, even if no domain has it or it is invalid', async (t) => {
    const edge = await startTestEdge(t, [1]);
    const rows: readonly [string, string][] = [
      ['Host: Nobody.example:81\r\n', 'nobody.example'],
      ['Host: [2001:DB8::1]:81\r\n', '[2001:db8::1]'],
      ['Host: a\\b\tc\r\n', 'a\\x5Cb\\x09c'],
      ['Host: \r\n', '-'],
    ];
    for (const [index, [host, expected]] of rows.entries()) {
      await connectRaw(edge.port, `GET / HTTP/1.1\r\n${host}Connection: close\r\n\r\n`).closed;
      await eventually('logged', () => edge.log.length === index + 1);
      assert.equal(edge.log[index]?.host, expected);
    }
  });

  test('the access log has 13 fields that say what happened, in the order of the document', async (t) => {
    const { edge } = await startSite(
      t,
      reply('hello', { 'cache-control': 'max-age=60', 'content-type': 'text/plain; charset=utf-8', etag: '"1"' }),
    );
    const headers = ['Referer', 'https://example.com/a\tb', 'User-Agent', 'test\\agent "1"'];
    const first = await edge.get('/a?b=c', { host: `WWW.example.com:80`, headers });
    await edge.get('/a?b=c', { headers: ['If-None-Match', '"1"'] });
    await edge.get('/a?b=c', { method: 'HEAD' });
    await eventually('logged', () => edge.log.length === 3);
    const [line] = edge.log;
    assert.ok(line !== undefined);
    const { endedAt, durationMs, requestBytes, responseBytes, ...rest } = line;
    assert.match(endedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
    assert.ok(Number.isInteger(durationMs));
    const request = `GET /a?b=c HTTP/1.1\r\nHost: WWW.example.com:80\r\n${headers[0]}: ${headers[1]}\r\n${headers[2]}: ${headers[3]}\r\nConnection: close\r\n\r\n`;
    assert.equal(requestBytes, request.length);
    const head = first.rawHeaders.reduce((sum, text) => sum + text.length + 2, 'HTTP/1.1 200 OK\r\n\r\n'.length);
    assert.equal(responseBytes, head + 'hello'.length);
    assert.deepEqual(rest, {
      client: '127.0.0.1',
      host: 'www.example.com',
      method: 'GET',
      target: '/a?b=c',
      protocol: 'HTTP/1.1',
      result: 'TCP_MISS/200',
      contentType: 'text/plain; charset=utf-8',
      referer: 'https://example.com/a\\x09b',
      userAgent: 'test\\x5Cagent "1"',
    });
    assert.deepEqual(
      edge.log.map((fields) => fields.result),
      ['TCP_MISS/200', 'TCP_IMS_HIT/304', 'TCP_MEM_HIT/200'],
    );
  });
});

test('the metrics count by the words of X-Cache, and by store', async (t) => {
  const { edge } = await startSite(t, reply('hello', { 'cache-control': 'max-age=60' }));
  for (let i = 0; i < 3; i++) await edge.get('/');
  await edge.get('/', { host: 'unknown.example' });
  await eventually('counted', () => edge.log.length === 4);
  const metrics = await edge.registry.metrics();
  assert.match(metrics, /causeway_edge_requests_total\{cache="MISS",reason="",status="2xx"\} 1/);
  assert.match(metrics, /causeway_edge_requests_total\{cache="HIT",reason="",status="2xx"\} 2/);
  assert.match(metrics, /causeway_edge_requests_total\{cache="DENIED",reason="unknownHost",status="4xx"\} 1/);
  assert.match(metrics, /causeway_edge_store_objects 1/);
  assert.match(metrics, /causeway_edge_store_bytes [1-9]/);
});
