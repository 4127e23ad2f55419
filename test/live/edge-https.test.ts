/** HTTP-FLV by TLS: over HTTP/2, over HTTP/1.1 and as WebSocket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { FlvReader } from '../../src/fanout/media/flv.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { open } from '../support/edge/http2-client.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { eventually } from '../support/eventually.ts';
import { media, nameOf } from '../support/live/live-edge.ts';
import { startScriptedOwner } from '../support/live/scripted-owner.ts';
import { needs } from '../support/runner/needs.ts';

async function startOnAir(t: TestContext) {
  const owner = await startScriptedOwner(t);
  const live = {
    socketPath: owner.socketPath,
    worker: 'w',
    source: { getLiveKeys: () => undefined, getLiveMark: () => undefined },
  };
  const edge = await startHttpsEdge(t, undefined, { live });
  edge.putTls(SITE_HOST, {}, { type: 'live' });
  owner.tell('a', 'live', 'b1');
  owner.push(...media('V1', 'k1'));
  await eventually(
    'known',
    async () => (await edge.get('/live/a.flv', { method: 'HEAD' })).headers['x-cache'] === 'HIT',
  );
  return { ...edge, owner };
}

/** What came so far, by its names. */
function readFlv() {
  const reader = new FlvReader();
  const names: string[] = [];
  return { push: (bytes: Buffer) => void names.push(...reader.push(bytes).map(nameOf)), text: () => names.join(' ') };
}

test('a viewer over HTTP/2 has a stream beside others, and leaves by a reset', needs('openssl'), async (t) => {
  const edge = await startOnAir(t);
  const session = open(t, edge);
  const streams = [1, 2].map(() => {
    const stream = session.request({ ':authority': SITE_HOST, ':path': '/live/a.flv' });
    stream.on('error', () => undefined); // shows as closed
    const flv = readFlv();
    stream.on('data', flv.push);
    return { stream, flv };
  });
  const [first, second] = streams;
  assert.ok(first && second);
  const [headers] = await once(first.stream, 'response');
  assert.deepEqual([headers[':status'], headers['content-type'], headers.connection], [200, 'video/x-flv', undefined]);
  for (const { flv } of streams) await eventually('begun', () => flv.text() === 'V1 k1');
  first.stream.close(8);
  await eventually('logged', () => edge.log.some((line) => line.protocol === 'HTTP/2.0'));
  edge.owner.push(...media('v2'));
  await eventually('goes on', () => second.flv.text() === 'V1 k1 v2');
  for (const flv of edge.owner.flv) flv.end();
  await once(second.stream, 'end');
  const lines = edge.log.filter((line) => line.protocol === 'HTTP/2.0');
  await eventually('both', () => edge.log.filter((line) => line.protocol === 'HTTP/2.0').length === 2);
  assert.equal(lines[0]?.result, 'TCP_HIT/200');
});

for (const upgrade of [
  '',
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a2V5\r\n',
]) {
  test(
    `a viewer over ${upgrade === '' ? 'HTTP/1.1' : 'WebSocket'} by TLS has the stream`,
    needs('openssl'),
    async (t) => {
      const edge = await startOnAir(t);
      const { authority, httpsPort: port } = edge;
      const socket = connectTls({ port, host: '127.0.0.1', servername: SITE_HOST, ca: authority.ca });
      t.after(() => socket.destroy());
      let text = '';
      socket.setEncoding('latin1').on('data', (piece: string) => {
        text += piece;
      });
      socket.write(`GET /live/a.flv HTTP/1.1\r\nHost: ${SITE_HOST}\r\n${upgrade}\r\n`);
      await eventually('begun', () => text.includes('FLV\x01') && text.includes('\x17\x01\0\0\0\x01'));
      assert.match(text, upgrade === '' ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 101 /);
      edge.owner.push(...media('v2'));
      await eventually('goes on', () => text.includes('\x27\x01\0\0\0\x02'));
      for (const flv of edge.owner.flv) flv.end();
      await once(socket, 'end');
    },
  );
}
