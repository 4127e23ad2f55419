/** How long viewers and the edge wait, as the metrics say, by every transport. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connectRaw, SITE_HOST } from '../support/edge/edge.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

/** What the origin waits before its head, and again before its body. */
const WAIT_MS = 60;

async function answerSlowly(_: unknown, response: import('node:http').ServerResponse): Promise<void> {
  await delay(WAIT_MS);
  response.writeHead(200, { 'Cache-Control': 'max-age=60', 'Content-Length': '2' });
  response.flushHeaders();
  await delay(WAIT_MS);
  response.end('ok');
}

interface Edge {
  readonly registry: { metrics(): Promise<string> };
}

async function read({ registry }: Edge, name: string): Promise<number> {
  const line = (await registry.metrics()).split('\n').find((its) => its.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
}

test('the first byte of a miss is that of its body, and hits add nothing but their number', async (t) => {
  const { edge } = await startSite(t, (request, response) => void answerSlowly(request, response));
  const [first, origins] = ['causeway_edge_first_byte_seconds', 'causeway_edge_origin_response_seconds'];
  assert.equal((await edge.get('/a')).body, 'ok');
  await eventually('the miss is counted', async () => (await read(edge, `${first}_count{cache="MISS"}`)) === 1);
  const waited = await read(edge, `${first}_sum{cache="MISS"}`);
  assert.ok(waited * 1000 >= 2 * WAIT_MS - 5, `${waited} s`);
  assert.equal(await read(edge, `${first}_bucket{le="0.1",cache="MISS"}`), 0);
  assert.equal(await read(edge, `${first}_bucket{le="+Inf",cache="MISS"}`), 1);
  assert.equal(await read(edge, `${origins}_count`), 1);
  const latency = await read(edge, `${origins}_sum`);
  assert.ok(latency * 1000 >= WAIT_MS - 5 && latency < waited, `${latency} s`);

  const client = connectRaw(edge.port);
  for (let n = 1; n <= 5; n++) {
    client.socket.write(`GET /a HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
    await eventually('it is answered', () => client.text().split('\r\n\r\nok').length === n + 1);
  }
  client.socket.destroy();
  await eventually('the hits are counted', async () => (await read(edge, `${first}_count{cache="HIT"}`)) === 5);
  const prepared = await read(edge, 'causeway_edge_prepared_answers_total');
  assert.ok(prepared > 0);
  assert.ok((await read(edge, `${first}_bucket{le="0.001",cache="HIT"}`)) >= prepared);
  assert.equal(await read(edge, `${first}_count{cache="HIT"}`), 5, 'read again, no hit is counted twice');
  assert.equal(await read(edge, `${origins}_count`), 1);
});

test('node:http and HTTP/2 count the first byte as well', needs('openssl', 'curl'), async (t) => {
  const edge = await startHttpsEdge(t, (request, response) => void answerSlowly(request, response));
  const counted = async () => await read(edge, 'causeway_edge_first_byte_seconds_sum{cache="MISS"}');
  await edge.curl(`https://${SITE_HOST}/http2`, '--http2');
  await eventually('the one over HTTP/2 is counted', async () => (await counted()) * 1000 >= 2 * WAIT_MS - 5);
  const before = await counted();
  // A body makes node:http read it.
  const text = `GET /other HTTP/1.1\r\nHost: ${SITE_HOST}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`;
  await connectRaw(edge.edge.port, text).closed;
  await eventually('the one over node:http is counted', async () => {
    return ((await counted()) - before) * 1000 >= 2 * WAIT_MS - 5;
  });
});
