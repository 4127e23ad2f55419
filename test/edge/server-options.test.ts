/** OPTIONS that the edge answers itself: `OPTIONS *`, and where Max-Forwards lets nobody else answer. RFC 9110 §7.6.2, §9.3.7 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connectRaw, SITE_HOST } from '../support/edge/edge.ts';
import { answerOf, ask, open } from '../support/edge/http2-client.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import type { LoggedRequest } from '../support/edge/logged-request.ts';
import { reply } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;
const ALLOW = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

const requestOf = ({ host, method, target, protocol, result }: LoggedRequest) => [
  host,
  method,
  target,
  protocol,
  result,
];

describe('OPTIONS *', () => {
  const rows: readonly (readonly [what: string, bytes: string, logged: readonly [host: string, version: string]])[] = [
    ['over HTTP/1.1', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`, [SITE_HOST, 'HTTP/1.1']],
    ['over HTTP/1.0', `OPTIONS * HTTP/1.0\r\n${HOST}\r\n`, [SITE_HOST, 'HTTP/1.0']],
    ['for a host that nobody has', `OPTIONS * HTTP/1.1\r\nHost: localhost:8080\r\n\r\n`, ['localhost', 'HTTP/1.1']],
    ['with a body', `OPTIONS * HTTP/1.1\r\n${HOST}Content-Length: 1\r\n\r\nx`, [SITE_HOST, 'HTTP/1.1']],
    ['with hops to go', `OPTIONS * HTTP/1.1\r\n${HOST}Max-Forwards: 5\r\n\r\n`, [SITE_HOST, 'HTTP/1.1']],
  ];
  for (const [what, bytes, [host, version]] of rows) {
    test(`OPTIONS * ${what} is answered by the edge, is not stored and has its log line`, async (t) => {
      const { edge, origin } = await startSite(t, reply('reached'));
      const client = connectRaw(edge.port, bytes);
      await eventually('it is answered', () => client.text().includes('\r\n\r\n'));
      const [head = '', body] = client.text().split('\r\n\r\n');
      assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
      for (const field of [
        `Allow: ${ALLOW}`,
        'Content-Length: 0',
        'Cache-Control: no-store',
        'X-Cache: OWN serverOptions',
      ])
        assert.ok(head.split('\r\n').includes(field), field);
      assert.match(head, /\r\nDate: \w{3}, /);
      assert.equal(body, '');
      await eventually('it is logged', () => edge.log.length === 1);
      assert.deepEqual(edge.log.map(requestOf), [[host, 'OPTIONS', '*', version, 'NONE/200']]);
      assert.equal(origin.requests.length, 0);
      client.socket.destroy();
    });
  }

  test('OPTIONS * leaves its connection open: the next request is served', async (t) => {
    const { edge } = await startSite(t, reply('reached'));
    const next = `GET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
    const text = await connectRaw(edge.port, `OPTIONS * HTTP/1.1\r\n${HOST}\r\n${next}`).closed;
    assert.equal(text.match(/HTTP\/1\.1 200 /g)?.length, 2);
    assert.match(text, /reached$/);
  });

  test('OPTIONS * over HTTP/2 is answered alike', needs('openssl'), async (t) => {
    const edge = await startHttpsEdge(t);
    const session = open(t, edge);
    const { status, headers, body } = await answerOf(ask(session, { ':method': 'OPTIONS', ':path': '*' }));
    const { allow, 'cache-control': caching, 'content-length': length, 'x-cache': xCache } = headers;
    assert.deepEqual(
      [status, body, allow, length, caching, xCache],
      [200, '', ALLOW, '0', 'no-store', 'OWN serverOptions'],
    );
    await eventually('it is logged', () => edge.log.length === 1);
    assert.deepEqual(edge.log.map(requestOf), [[SITE_HOST, 'OPTIONS', '*', 'HTTP/2.0', 'NONE/200']]);
    assert.equal(edge.origin.requests.length, 0);
  });
});

test('Max-Forwards counts for OPTIONS: the last hop answers, others pass on one less', async (t) => {
  const { edge, origin } = await startSite(t, reply('reached'));
  for (const [method, sent, passedOn] of [
    ['OPTIONS', '0', undefined],
    ['OPTIONS', '00', undefined],
    ['OPTIONS', '1', '0'],
    ['OPTIONS', '10', '9'],
    ['OPTIONS', 'x', 'x'],
    ['OPTIONS', '-1', '-1'],
    ['GET', '0', '0'],
    ['POST', '3', '3'],
  ] as const) {
    origin.requests.length = 0;
    const { status, headers } = await edge.get(`/${method}${sent}`, { method, headers: ['Max-Forwards', sent] });
    assert.equal(status, 200);
    assert.equal(origin.requests[0]?.headers['max-forwards'], passedOn, `${method} ${sent}`);
    assert.equal(headers['x-cache'] === 'OWN serverOptions', passedOn === undefined, `${method} ${sent}`);
  }
});

test('a domain refuses OPTIONS as it refuses other requests, whatever Max-Forwards says', async (t) => {
  const { edge } = await startSite(t, reply('reached'));
  edge.put({ name: SITE_HOST, state: 'disabled' });
  const { status } = await edge.get('/', { method: 'OPTIONS', headers: ['Max-Forwards', '0'] });
  assert.equal(status, 403);
});
