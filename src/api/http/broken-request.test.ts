import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { answerBrokenRequest } from './broken-request.ts';

test('a request that does not arrive in time is answered with 408, and the connection ends', async (t) => {
  const outcomes: string[] = [];
  const server = createServer({ requestTimeout: 50, headersTimeout: 50, connectionsCheckingInterval: 20 });
  server.on(
    'clientError',
    answerBrokenRequest('en', ({ outcome }) => outcomes.push(outcome)),
  );
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const socket = connect(address.port, '127.0.0.1');
  socket.write('POST /domain/addDomain HTTP/1.1\r\nHost: a\r\n');
  const answer = await text(socket);
  assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\nx-error-code: requestTimeout\r\n/);
  assert.match(answer, /\{"status":0,"info":"the request did not arrive in time","data":\{\}\}$/);
  assert.deepEqual(outcomes, ['requestTimeout']);
});
