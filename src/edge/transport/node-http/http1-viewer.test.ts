import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { Http1Viewer } from './http1-viewer.ts';

test('an answer to HTTP/1.0 that is cut in the turn in which it ended leaves no connection open', async (t) => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const server = createServer((message, response) => {
    message.socket.once('close', () => resolve());
    const viewer = new Http1Viewer(message, response, {
      client: { address: '127.0.0.1', isTls: false },
      secured: undefined,
      line: undefined,
      idleTimeoutMs: 60_000,
      maxRequestBodyBytes: 0,
    });
    // After node:http's own listener, which has just ended the connection.
    response.once('finish', () => viewer.cut(503));
    viewer.sendHead(200, 'OK', ['Content-Length', '2']);
    viewer.write(Buffer.from('ok'));
    void viewer.end();
  });
  t.after(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const client = connect(address.port, '127.0.0.1');
  client.end('GET / HTTP/1.0\r\nHost: a.test\r\n\r\n');
  client.resume();
  client.on('error', () => {});
  await closed;
});
