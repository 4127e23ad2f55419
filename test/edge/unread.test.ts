/** Fetches that go on for nobody, and answers that break off by the origin's fault. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connectRaw, SITE_HOST, startTestEdge, type TestEdge } from '../support/edge/edge.ts';
import { FRESH, reply, startRawOrigin } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';

const LIMITS = { unreadFetchMs: 200 };
const MIB = 1024 * 1024;

describe('a fetch whose client has left', () => {
  type Row = readonly [what: string, headers: Record<string, string>];
  const rows: readonly Row[] = [
    ['of unknown length', {}],
    ['of a length that it will never reach', { 'content-length': '20000' }],
  ];
  for (const [what, headers] of rows) {
    test(`a fetch ${what} that only trickles is dropped in time once its client has left, and not stored`, async (t) => {
      let closed = false;
      const { edge, origin } = await startSite(
        t,
        (_request, response) => {
          response.writeHead(200, { ...FRESH, ...headers });
          const timer = setInterval(() => response.write('x'), 20);
          response.once('close', () => {
            clearInterval(timer);
            closed = true;
          });
        },
        { limits: LIMITS },
      );
      await leaveWhenBegun(edge);
      await eventually('dropped', () => closed);
      origin.answer(reply('new', FRESH));
      assert.equal((await edge.get('/')).body, 'new');
    });
  }

  test('a fetch of unknown length without a client is dropped when it grows large', async (t) => {
    let closed = false;
    const { edge } = await startSite(
      t,
      (_request, response) => {
        response.once('close', () => {
          closed = true;
        });
        response.writeHead(200, FRESH);
        const more = () => {
          while (!closed && response.write(Buffer.alloc(64 * 1024, 'x')));
        };
        response.on('drain', more);
        more();
      },
      { cacheBytes: 256 * MIB, limits: { unreadFetchMs: 60_000 } },
    );
    await leaveWhenBegun(edge);
    await eventually('dropped', () => closed);
  });

  test('a fetch continues while other clients share it', async (t) => {
    let finish = () => {};
    const { edge, origin } = await startSite(
      t,
      (_request, response) => {
        response.writeHead(200, { ...FRESH, 'content-length': '1000000' });
        response.write('x');
        finish = () => void response.end('y'.repeat(999_999));
      },
      { limits: LIMITS },
    );
    const first = connectRaw(edge.port, GET);
    await eventually('begun', () => first.text().endsWith('x'));
    const second = connectRaw(edge.port, GET);
    await eventually('reading along', () => second.text().endsWith('x'));
    first.socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 400)); // twice the limit
    finish();
    await eventually('whole', () => second.text().endsWith('xy') || second.text().length > 999_999);
    assert.equal(origin.requests.length, 1);
    second.socket.destroy();
  });
});

test('an origin that breaks off in the body is a failure of the origin, in the log and in the metrics', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc');
  });
  const edge = await startTestEdge(t, [origin.port]);
  assert.equal((await edge.get('/')).isWhole, false);
  await eventually('logged', () => edge.log[0]?.result === 'TCP_MISS/502');
  const metrics = await edge.registry.metrics();
  assert.match(metrics, /causeway_edge_origin_failures_total\{reason="originCut"\} 1/);
  assert.match(metrics, /causeway_edge_requests_total\{cache="MISS",reason="\w*",status="5xx"\} 1/);
});

test('an origin that breaks off before the first byte of the body is answered 502', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\nCache-Control: max-age=60\r\n\r\n');
  });
  const edge = await startTestEdge(t, [origin.port]);
  const received = await edge.get('/');
  assert.deepEqual([received.status, received.headers['x-cache'], received.isWhole], [502, 'ERROR originCut', true]);
  assert.equal(received.headers['content-length'], String(received.body.length));
  await eventually('logged', () => edge.log[0]?.result === 'NONE/502');
  assert.equal((await edge.get('/')).status, 502);
});

test('clients that share a fetch broken off before its first byte are answered 502', async (t) => {
  const origin = await startRawOrigin(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nCache-Control: max-age=60\r\n\r\n');
    setTimeout(() => socket.destroy(), 200);
  });
  const edge = await startTestEdge(t, [origin.port]);
  const all = await Promise.all([1, 2, 3].map(() => edge.get('/')));
  assert.deepEqual(
    all.map(({ status }) => status),
    [502, 502, 502],
  );
});

test('a client that leaves is not a failure of the origin', async (t) => {
  const { edge } = await startSite(t, (_request, response) => void response.write('abc'));
  await leaveWhenBegun(edge, 'abc');
  await eventually('logged', () => edge.log[0]?.result === 'TCP_MISS/499');
  assert.doesNotMatch(await edge.registry.metrics(), /originCut/);
});

const GET = `GET / HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`;

async function leaveWhenBegun(edge: TestEdge, begin = 'x'): Promise<void> {
  const client = connectRaw(edge.port, GET);
  await eventually('begun', () => client.text().includes(`\r\n\r\n`) && client.text().includes(begin));
  client.socket.destroy();
  await client.closed;
}
