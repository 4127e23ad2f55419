/** The edge's health page: its clients and its words, by every transport; for other clients it is an ordinary path. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HealthState } from '#edge/stages/health.ts';
import { createAddressSet } from '#lib/cidr.ts';
import { connectRaw, SITE_HOST } from '../support/edge/edge.ts';
import { answerOf, ask, open } from '../support/edge/http2-client.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { reply } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const PATH = '/.well-known/causeway/health';
const READY: HealthState = { isReady: true, word: 'ready' };
const DRAINING: HealthState = { isReady: false, word: 'draining' };

function pageFor(networks: readonly string[], state = { now: READY }) {
  return { isFor: createAddressSet(networks).has, state: () => state.now };
}

test('the health page needs no domain: 200 with the word of the state, or 503, and no line in the access log', async (t) => {
  const state = { now: READY };
  const { edge, origin } = await startSite(t, reply('reached'), { health: pageFor(['127.0.0.1'], state) });
  const rows: readonly (readonly [string, HealthState, string, string])[] = [
    [`GET ${PATH} HTTP/1.1\r\nHost: nobody.example.net\r\n`, READY, '200 OK', 'ready\n'],
    [`GET ${PATH} HTTP/1.1\r\nHost: ${SITE_HOST}\r\n`, READY, '200 OK', 'ready\n'],
    [`GET ${PATH} HTTP/1.1\r\nHost: ${SITE_HOST}\r\n`, DRAINING, '503 Service Unavailable', 'draining\n'],
    [`HEAD ${PATH} HTTP/1.1\r\nHost: 192.0.2.1:8080\r\n`, DRAINING, '503 Service Unavailable', ''],
    [`GET ${PATH} HTTP/1.0\r\n`, READY, '200 OK', 'ready\n'], // as balancers ask that know no host
    [`GET ${PATH} HTTP/1.1\r\nHost: ${SITE_HOST}\r\nExpect: 100-continue\r\n`, READY, '200 OK', 'ready\n'], // by node:http
  ];
  for (const [head, now, status, body] of rows) {
    state.now = now;
    const text = await connectRaw(edge.port, `${head}Connection: close\r\n\r\n`).closed;
    const [fields = '', sent] = text.replace('HTTP/1.1 100 Continue\r\n\r\n', '').split('\r\n\r\n');
    assert.match(fields, new RegExp(`^HTTP/1\\.1 ${status}\r\n`), head);
    for (const field of ['Cache-Control: no-store', 'X-Cache: OWN health'])
      assert.ok(fields.split('\r\n').includes(field), `${head}${field}`);
    assert.equal(sent, body, head);
  }
  assert.equal(origin.requests.length, 0);
  const counts = edge.edge.counts();
  assert.equal(counts.requests, 0);
  await edge.get('/a');
  await eventually('the request is logged', () => edge.log.length > 0);
  assert.deepEqual([edge.log.length, edge.edge.counts().requests], [1, 1]);
});

test('the health page is the same over TLS and HTTP/2', needs('openssl', 'curl'), async (t) => {
  const edge = await startHttpsEdge(t, reply('reached'), { health: pageFor(['127.0.0.1'], { now: DRAINING }) });
  const http1 = await edge.curl(`https://${SITE_HOST}${PATH}`, '--http1.1');
  assert.deepEqual([http1.status, http1.body, http1.headers['x-cache']], [503, 'draining\n', 'OWN health']);
  const http2 = await answerOf(ask(open(t, edge), { ':path': PATH }));
  assert.deepEqual([http2.status, http2.body, http2.headers['x-cache']], [503, 'draining\n', 'OWN health']);
  assert.deepEqual([edge.origin.requests.length, edge.log.length], [0, 0]);
});

test('the path of the health page is an ordinary one for other clients, methods and paths', async (t) => {
  const proxies = { trusted: ['127.0.0.1'], protocol: 'off' } as const;
  const health = pageFor(['127.0.0.1', '198.51.100.0/24']);
  const { edge, origin } = await startSite(t, reply('reached'), { health, proxies });
  const viewer = ['X-Forwarded-For', '203.0.113.9'];
  const rows: readonly (readonly [string, string, Parameters<typeof edge.get>[1]])[] = [
    ['reached', PATH, { headers: viewer }],
    ['reached', PATH, { headers: ['X-Forwarded-For', '127.0.0.1, 203.0.113.9'] }],
    ['reached', PATH, { method: 'POST', body: 'x' }],
    ['reached', `${PATH}?x`, {}],
    ['reached', `${PATH}/`, {}],
    ['ready\n', PATH, {}], // the proxy's own
    ['ready\n', PATH, { headers: ['X-Forwarded-For', '198.51.100.7'] }],
    ['403 Forbidden\nunknownHost\n', PATH, { headers: viewer, host: 'nobody.example.net' }],
  ];
  for (const [body, path, options] of rows)
    assert.equal((await edge.get(path, options)).body, body, `${path} ${JSON.stringify(options)}`);
  assert.ok(origin.requests.length >= 4);
});
