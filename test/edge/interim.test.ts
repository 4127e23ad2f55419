/** Interim responses: what of them reaches the client, and what an origin cannot do with them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import { createServer } from 'node:tls';
import { createAuthority } from '../support/certificates/certificate.ts';
import { connectRaw, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { answerOf, ask, open as openHttp2 } from '../support/edge/http2-client.ts';
import { startHttpsEdge } from '../support/edge/https-edge.ts';
import { startRawOrigin } from '../support/edge/origin.ts';
import { accept, bodyOf, open } from '../support/edge/web-socket.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

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

test('interim responses do not extend the limit for the first byte of the response', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 50);
    socket.once('close', () => clearInterval(timer));
  });
  const edge = await startTestEdge(t, [origin.port], { limits: { firstByteMs: 300 } });
  const text = await connectRaw(edge.port, GET).closed;
  assert.match(text, /HTTP\/1\.1 504 [\s\S]*ERROR originTimeout/);
});

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const VALIDATED = 'Cache-Control: max-age=60\r\nETag: "1"\r\n';

/** An origin that says 100 before each response, though no client waits for it. */
async function startUnasked(t: TestContext, answer: (head: string, count: number) => string) {
  return startRawOrigin(t, (socket, head, count) => void socket.write(CONTINUE + answer(head, count), 'latin1'));
}

describe('an unexpected 100 is dropped', () => {
  const before: readonly (readonly [what: string, interim: string])[] = [
    ['one', CONTINUE],
    ['several', CONTINUE.repeat(5)],
    [
      'among other interim responses',
      `HTTP/1.1 102 Processing\r\n\r\n${CONTINUE}HTTP/1.1 103 E\r\nConnection: close\r\n\r\nHTTP/1.1 199 Odd\r\n\r\n`,
    ],
  ];
  for (const [what, interim] of before) {
    for (const request of ['GET /', 'HEAD /', 'POST /']) {
      test(`an unexpected 100 is dropped, ${what}, after ${request}`, async (t) => {
        const final = request.startsWith('HEAD') ? FINAL.replace('ok', '') : FINAL;
        const origin = await startRawOrigin(t, (socket) => void socket.write(interim + final));
        const edge = await startTestEdge(t, [origin.port]);
        for (let i = 0; i < 2; i++) {
          const head = `${request}${i} HTTP/1.1\r\nHost: ${SITE_HOST}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
          const text = await connectRaw(edge.port, head).closed;
          const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
          assert.deepEqual(statuses, what === 'among other interim responses' ? ['102', '103', '199', '200'] : ['200']);
        }
        if (!request.startsWith('HEAD')) assert.equal(origin.connections(), 1); // it is kept
      });
    }
  }

  test('a 101 is not an interim response to drop, and forty interim responses are too many', async (t) => {
    for (const bytes of [
      'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      CONTINUE.repeat(40) + FINAL,
    ]) {
      const origin = await startRawOrigin(t, (socket) => void socket.write(bytes));
      const edge = await startTestEdge(t, [origin.port]);
      assert.match(await connectRaw(edge.port, GET).closed, /^HTTP\/1\.1 502 [\s\S]*ERROR originMalformed/);
    }
  });

  test('interim responses alone are not an answer in time', async (t) => {
    const origin = await startRawOrigin(t, (socket) => void socket.write(CONTINUE));
    const edge = await startTestEdge(t, [origin.port], { limits: { firstByteMs: 100 } });
    assert.match(await connectRaw(edge.port, GET).closed, /^HTTP\/1\.1 504 [\s\S]*ERROR originTimeout/);
  });

  test('interim responses are dropped before a validation, before a redirect and its target', async (t) => {
    const origin = await startUnasked(t, (head) => {
      if (head.startsWith('GET /from')) return 'HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n';
      if (/if-none-match/i.test(head)) return `HTTP/1.1 304 Not Modified\r\n${VALIDATED}\r\n`;
      return `HTTP/1.1 200 OK\r\n${VALIDATED}Content-Length: 2\r\n\r\nok`;
    });
    const edge = await startTestEdge(t, [origin.port]);
    edge.put({ name: SITE_HOST, redirectFollow: true });
    assert.equal((await edge.get('/')).body, 'ok');
    edge.advance(70_000);
    assert.equal((await edge.get('/')).headers['x-cache'], 'REVALIDATED');
    assert.equal((await edge.get('/from')).body, 'ok');
  });

  test('interim responses are dropped before each slice, and before a prefetched response', async (t) => {
    const whole = 'abcdefgh'.repeat(200_000);
    const origin = await startUnasked(t, (head) => {
      const [, first = '0', last = ''] = /range: bytes=(\d+)-(\d+)/i.exec(head) ?? [];
      const part = whole.slice(Number(first), Number(last) + 1);
      const range = `bytes ${first}-${Number(first) + part.length - 1}/${whole.length}`;
      return `HTTP/1.1 206 Partial\r\n${VALIDATED}Content-Range: ${range}\r\nContent-Length: ${part.length}\r\n\r\n${part}`;
    });
    const edge = await startTestEdge(t, [origin.port]);
    edge.put({ name: SITE_HOST, rangeBackSource: true });
    assert.equal((await edge.get('/')).body, whole);
    assert.equal(origin.heads.length, 2);
    const outcome = await edge.edge.prefetch({ host: SITE_HOST, target: '/prefetched', scheme: 'http' });
    assert.deepEqual(outcome, { kind: 'stored' });
  });

  test('interim responses are dropped before the 101 of a WebSocket', async (t) => {
    const origin = await startUnasked(t, (head) => `${accept(head)}hello`);
    const edge = await startTestEdge(t, [origin.port]);
    const client = await open(edge);
    await eventually('greeted', () => bodyOf(client) === 'hello');
    client.socket.destroy();
  });

  test(
    'interim responses are dropped in pieces, from an origin with TLS, and over HTTP/2',
    needs('openssl'),
    async (t) => {
      const { key, cert } = createAuthority(t).issue([SITE_HOST]);
      const server = createServer({ key, cert }, (socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          socket.write(CONTINUE.slice(0, 9));
          setImmediate(() => socket.write(CONTINUE.slice(9) + FINAL));
        });
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.after(() => server.close());
      const address = server.address();
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
      const edge = await startHttpsEdge(t);
      const tls = { certificate: 'c1' };
      edge.put({
        name: SITE_HOST,
        tls,
        origins: { ...NO_ORIGINS, protocol: 'https', primary: [{ host: '127.0.0.1', port }] },
      });
      const answer = await answerOf(ask(openHttp2(t, edge), { ':path': '/' }));
      assert.deepEqual([answer.status, answer.body, answer.interim], [200, 'ok', []]);
    },
  );
});

describe('trailers of an origin are dropped, whatever they contain', () => {
  for (const trailer of [
    'X-Sum: 1',
    'Content-Length: 100',
    'Transfer-Encoding: chunked',
    'Connection: close',
    'Keep-Alive: timeout=0',
    'Set-Cookie: a=b',
    'Content-Range: bytes 0-1/2',
    'Location: /elsewhere',
    'Cache-Control: no-store',
  ]) {
    test(`the trailer ${trailer} is dropped`, async (t) => {
      const chunks = `HTTP/1.1 200 OK\r\n${VALIDATED}Trailer: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n${trailer}\r\n\r\n`;
      const origin = await startRawOrigin(t, (socket) => void socket.write(chunks));
      const edge = await startTestEdge(t, [origin.port]);
      const [miss, hit] = [await edge.get('/'), await edge.get('/')];
      assert.deepEqual([miss.status, miss.body, miss.isWhole], [200, 'ok', true]);
      assert.deepEqual([hit.headers['x-cache'], hit.body], ['HIT', 'ok']);
      assert.equal(miss.headers['trailer'], undefined);
    });
  }
});
