/** Clients that end their side right behind their request: over TLS at the edge, and at control. docs/decisions/0325 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { startWithCustomers } from '../support/api/customers.ts';
import { callBytes } from '../support/api/raw-calls.ts';
import { newSqlite } from '../support/db/databases.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const LIST = '/domain/listDomains';

describe('half-closed connections to control', () => {
  for (const [what, fields] of [
    ['that control reads itself', []],
    ['that node:http reads', ['Accept-Encoding: gzip', 'Expect: 100-continue']],
  ] as const) {
    test(`control answers a call ${what} even if its client has ended its side`, async (t) => {
      const { api, me } = await startWithCustomers(t, newSqlite);
      const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
      socket.end(callBytes(LIST, JSON.stringify({ access_token: me.accessToken }), [...fields]));
      assert.match(await text(socket), /HTTP\/1\.1 200 OK[\s\S]*"status":1/);
    });
  }

  test('control drops a request whose client ends its side before it is complete', async (t) => {
    const { api } = await startWithCustomers(t, newSqlite);
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    socket.end(callBytes(LIST, '{', ['Content-Length: 100', 'Accept-Encoding: gzip', 'Expect: 100-continue']));
    assert.doesNotMatch(await text(socket), /200 OK/);
  });
});

test('an edge counts a client that ends its side within TLS as gone', needs('openssl'), async (t) => {
  let asked = 0;
  const edge = await startHttpsEdge(t, () => void asked++, { limits: { halfClosedMs: 600_000 } });
  const socket = connectTls({ port: edge.httpsPort, host: '127.0.0.1', servername: SITE_HOST, ca: edge.authority.ca });
  await once(socket, 'secureConnect');
  const answer = text(socket);
  socket.write(`GET / HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
  await eventually('asked', () => asked === 1);
  socket.end();
  assert.equal(await answer, '');
  await eventually('given up', () => edge.log.length === 1 && edge.edge.underWay === 0);
});
