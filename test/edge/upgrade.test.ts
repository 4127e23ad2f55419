/** What cannot be done with a request for an upgrade: nothing reaches an origin that the edge has not read as a request. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { connectRaw, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { reply, startRawOrigin } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { HANDSHAKE, openSockets } from '../support/edge/web-socket.ts';
import { eventually } from '../support/eventually.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;

describe('misuse of an upgrade', () => {
  test('an answer to a handshake that leaves the connection open is not followed by another request on it', async (t) => {
    const origin = await startRawOrigin(t, (socket, head, count) => {
      const body = `${count} ${head.split(' ')[1]}`;
      socket.write(`HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
    const edge = await startTestEdge(t, [origin.port]);
    const inside = `GET /inside HTTP/1.1\r\n${HOST}\r\n`;
    const text = await connectRaw(edge.port, HANDSHAKE + inside).closed;
    assert.match(text, /1 \/chat\?room=1$/);
    assert.equal((await edge.get('/after')).body, '2 /after');
    assert.equal(origin.connections(), 2);
    assert.deepEqual(
      origin.heads.map((head) => head.split(' ')[1]),
      ['/chat?room=1', '/after'],
    );
  });

  const fakes: readonly (readonly [what: string, head: string])[] = [
    ['without the answer to the key', 'Upgrade: websocket\r\nConnection: Upgrade\r\n'],
    [
      'with a wrong answer to the key',
      'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n',
    ],
    [
      'for another protocol',
      'Upgrade: h2c\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n',
    ],
    ['that names no protocol', 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n'],
  ];
  for (const [what, fields] of fakes) {
    test(`a 101 ${what} opens no way to the origin`, async (t) => {
      const sockets: Socket[] = [];
      const origin = await startRawOrigin(t, (socket) => {
        sockets.push(socket);
        socket.write(`HTTP/1.1 101 Sure\r\n${fields}\r\n`);
      });
      const edge = await startTestEdge(t, [origin.port]);
      const text = await connectRaw(edge.port, `${HANDSHAKE}GET /inside HTTP/1.1\r\n${HOST}\r\n`).closed;
      assert.match(text, /^HTTP\/1\.1 502 [\s\S]*ERROR originMalformed/);
      await eventually('closed', () => sockets.every(({ destroyed }) => destroyed));
      assert.equal(origin.heads.length, 1);
      assert.equal(await openSockets(edge), 0);
    });
  }

  test('an unexpected 101 is not an answer', async (t) => {
    for (const fields of ['', 'Upgrade: websocket\r\nConnection: Upgrade\r\n']) {
      const origin = await startRawOrigin(t, (socket) => void socket.write(`HTTP/1.1 101 Sure\r\n${fields}\r\n`));
      const edge = await startTestEdge(t, [origin.port]);
      assert.match((await edge.get('/')).headers['x-cache'] ?? '', /^ERROR originMalformed$/);
    }
  });

  const ignored: readonly (readonly [what: string, from: string | RegExp, to: string])[] = [
    ['h2c', 'Upgrade: websocket', 'Upgrade: h2c'],
    ['HTTP/1.0', 'HTTP/1.1', 'HTTP/1.0'],
    ['a POST', 'GET', 'POST'],
    ['Connection: close besides Upgrade', 'Connection: Upgrade', 'Connection: close, Upgrade'],
    ['no Connection', 'Connection: Upgrade\r\n', ''],
    ['no key', /Sec-WebSocket-Key: .*\r\n/, ''],
    ['a body', '\r\n\r\n', '\r\nContent-Length: 5\r\n\r\n12345'],
  ];
  for (const [what, from, to] of ignored) {
    test(`a handshake with ${what} is an ordinary request, and the origin sees no upgrade`, async (t) => {
      const { edge, origin } = await startSite(t, reply('plain'));
      const client = connectRaw(edge.port, HANDSHAKE.replace(from, to));
      await eventually('answered', () => client.text().endsWith('plain'));
      assert.match(client.text(), /^HTTP\/1\.1 200 /);
      assert.equal(origin.requests[0]?.headers['upgrade'], undefined);
      client.socket.destroy();
    });
  }

  const before: readonly (readonly [what: string, fields: string, upgrade: string | undefined])[] = [
    ['as an ordinary request over node:http', 'Content-Length: 0\r\n', undefined],
    ['as a handshake otherwise', '', 'websocket'],
  ];
  for (const [what, fields, upgrade] of before) {
    test(`a handshake after a request that waits is answered after it; ${what}`, async (t) => {
      const { edge, origin } = await startSite(t, (request, response) =>
        reply(`at ${request.target}`)(request, response),
      );
      const text = await connectRaw(edge.port, `GET /first HTTP/1.1\r\n${HOST}${fields}\r\n${HANDSHAKE}`).closed;
      assert.match(text, /at \/first[\s\S]*at \/chat\?room=1$/);
      assert.equal(origin.requests[1]?.headers['upgrade'], upgrade);
    });
  }
});
