/** Interim responses: what of them reaches the client, and what an origin cannot do with them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectRaw, SITE_HOST, startTestEdge } from './support/edge.ts';
import { startRawOrigin } from './support/origin.ts';

const GET = `GET / HTTP/1.1\r\nHost: ${SITE_HOST}\r\nConnection: close\r\n\r\n`;
const FINAL = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

test('the fields of an interim response are filtered like those of a final one', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    const hop = 'Connection: x-a\r\nX-A: 1\r\nKeep-Alive: timeout=1\r\nTrailer: x\r\n';
    socket.write(`HTTP/1.1 103 Early Hints\r\n${hop}X-Cache: HIT\r\nLink: </a>\r\n\r\n${FINAL}`);
  });
  const edge = await startTestEdge(t, [origin.port]);
  const text = await connectRaw(edge.port, GET).closed;
  assert.match(text, /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a>\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*ok$/);
});

test('an origin that sends interim responses for ever is given up', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    const more = () => {
      while (socket.writable && socket.write(`HTTP/1.1 103 E\r\nLink: <${'a'.repeat(8000)}>\r\n\r\n`));
      socket.once('drain', more);
    };
    more();
  });
  const edge = await startTestEdge(t, [origin.port]);
  const text = await connectRaw(edge.port, GET).closed;
  assert.match(text, /HTTP\/1\.1 502 [\s\S]*ERROR originMalformed/);
  assert.ok((text.match(/HTTP\/1\.1 103/g)?.length ?? 0) <= 32);
  assert.match(await edge.registry.metrics(), /origin_failures_total\{reason="originMalformed"\} 1/);
});

test('they do not put off the limit for the first byte of the response', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 50);
    socket.once('close', () => clearInterval(timer));
  });
  const edge = await startTestEdge(t, [origin.port], { limits: { firstByteMs: 300 } });
  const text = await connectRaw(edge.port, GET).closed;
  assert.match(text, /HTTP\/1\.1 504 [\s\S]*ERROR originTimeout/);
});
