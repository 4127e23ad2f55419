/** The last answer of a connection reaches a client that is still sending: closed at once, the system would take it away. RFC 9112 §9.6 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { SITE_HOST } from '../support/edge/edge.ts';
import { connectTls, startHttpsEdge } from '../support/edge/https-edge.ts';
import { reply } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { needs } from '../support/runner/needs.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;
const LARGE = 'x'.repeat(300_000);
const hit = `GET /hit HTTP/1.1\r\n${HOST}\r\n`;
const FRESH = { 'cache-control': 'max-age=600' };
const statusesIn = (text: string) => text.match(/HTTP\/1\.1 \d+/g);

/** Sends until the other side has said all, and gives what that was. */
async function sendOn(client: Socket, bytes: string): Promise<string> {
  const problems: Error[] = [];
  client.on('error', (error) => problems.push(error));
  let text = '';
  client.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  client.write(bytes, 'latin1');
  const more = Buffer.alloc(64 * 1024, 'x');
  while (!client.readableEnded && !client.destroyed) {
    if (client.write(more)) await new Promise(setImmediate);
    else await Promise.race([once(client, 'drain'), once(client, 'end'), once(client, 'close')]);
  }
  client.end();
  if (!client.closed) await once(client, 'close');
  assert.deepEqual(problems, []);
  return text;
}

const lastHit = `GET /hit HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;

const rows: readonly (readonly [what: string, bytes: string, statuses: readonly string[]])[] = [
  ['a body that is too large', `POST / HTTP/1.1\r\n${HOST}Content-Length: 200000000\r\n\r\n`, ['HTTP/1.1 413']],
  ['bytes that are not HTTP after a request', `${hit}GET /\xe4 HTTP/1.1\r\n\r\n`, ['HTTP/1.1 200', 'HTTP/1.1 400']],
  [
    'more than its Content-Length',
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nConnection: close\r\n\r\n`,
    ['HTTP/1.1 200'],
  ],
  ['more after its last request', lastHit, ['HTTP/1.1 200']],
];
for (const [what, bytes, statuses] of rows) {
  test(`a refusal reaches a client that sends ${what}`, async (t) => {
    const { edge } = await startSite(t, reply(LARGE, FRESH));
    await edge.get('/hit');
    const client = connect({ port: edge.port, host: '127.0.0.1', allowHalfOpen: true });
    const text = await sendOn(client, bytes);
    assert.deepEqual(statusesIn(text), statuses);
    if (statuses.includes('HTTP/1.1 200')) assert.ok(text.includes(LARGE));
  });
}

test('a refusal reaches a client that sends too large a body over TLS', needs('openssl'), async (t) => {
  const edge = await startHttpsEdge(t, reply(LARGE, FRESH));
  const text = await sendOn(connectTls(t, edge), `POST / HTTP/1.1\r\n${HOST}Content-Length: 200000000\r\n\r\n`);
  assert.deepEqual(statusesIn(text), ['HTTP/1.1 413']);
});
