/** Request lines at control that its parser takes and HTTP does not, and the one that asks about the server. docs/decisions/0465 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { startTestApi, type TestApi } from '../support/api/api.ts';
import { newSqlite } from '../support/db/databases.ts';

const ADD = '/domain/addDomain';

/** Returns everything that comes back. */
async function sendRaw(api: TestApi, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.write(bytes);
  return await text(socket);
}

describe('request lines at control', () => {
  test('control refuses a request line that is not HTTP', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const fields = 'Host: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}';
    for (const protocol of [
      'RTSP/1.0',
      'RTSP/1.1',
      'RTSP/2.0',
      'ICE/1.0',
      'HTTP/1',
      'HTTP/1.10',
      'HTTP/01.1',
      'http/1.1',
    ]) {
      for (const [method, target] of [
        ['POST', ADD],
        ['POST', `http://a${ADD}`],
        ['POST', '/nothing'],
        ['GET', '/healthz'],
        ['GET', '/%'],
        ['OPTIONS', '*'],
      ]) {
        const line = `${method} ${target} ${protocol}`;
        assert.match(await sendRaw(api, `${line}\r\n${fields}`), /^HTTP\/1\.1 400 .*requestMalformed/s, line);
      }
    }
    const behind = await sendRaw(api, `GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nPOST ${ADD} RTSP/1.0\r\n${fields}`);
    assert.match(behind, /^HTTP\/1\.1 200 .*HTTP\/1\.1 400 .*requestMalformed/s);
  });

  test('control answers OPTIONS * for the server', async (t) => {
    const api = await startTestApi(t, newSqlite);
    for (const [request, expected] of [
      [
        'OPTIONS * HTTP/1.1\r\nHost: a\r\n',
        /^HTTP\/1\.1 200 .*allow: GET, HEAD, POST, OPTIONS\r\n.*content-length: 0\r\n.*\r\n\r\n$/is,
      ],
      ['OPTIONS * HTTP/1.0\r\n', /^HTTP\/1\.1 200 /],
      ['OPTIONS * HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n', /^HTTP\/1\.1 200 /],
      ['OPTIONS * HTTP/1.1\r\n', /^HTTP\/1\.1 400 /],
      ['GET * HTTP/1.1\r\nHost: a\r\n', /^HTTP\/1\.1 404 /],
      ['OPTIONS /nothing HTTP/1.1\r\nHost: a\r\n', /^HTTP\/1\.1 404 /],
      [`OPTIONS ${ADD} HTTP/1.1\r\nHost: a\r\n`, /^HTTP\/1\.1 405 .*allow: POST/is],
    ] as const) {
      const body = request.includes('Content-Length') ? '{}' : '';
      assert.match(await sendRaw(api, `${request}Connection: close\r\n\r\n${body}`), expected, request);
    }
  });
});
