/** Clients that end their side behind their request, as `nc -N` does: they may still read. docs/decisions/0325 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { connectRaw, SITE_HOST } from '../support/edge/edge.ts';
import { type Answer, reply } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;
const LARGE = Buffer.alloc(2 * 1024 * 1024, 'x');

/** Answers when the test says so. */
function held() {
  const waiting: (() => void)[] = [];
  const answer: Answer = (request, response) => {
    waiting.push(() => reply('late', { 'cache-control': 'no-store' })(request, response));
  };
  return { waiting, answer };
}

describe('a client that has ended its side', () => {
  for (const [what, request] of [
    ['a miss', `GET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`],
    ['a miss on a connection that stays', `GET / HTTP/1.1\r\n${HOST}\r\n`],
    ['a body', `POST / HTTP/1.1\r\n${HOST}Connection: close\r\nContent-Length: 3\r\n\r\nabc`],
    ['a request of HTTP/1.0', `GET / HTTP/1.0\r\n${HOST}\r\n`],
    ['two requests', `GET /a HTTP/1.1\r\n${HOST}\r\nGET /b HTTP/1.1\r\n${HOST}\r\n`],
  ] as const) {
    test(`a client that ends its side after ${what} gets its answer when the origin has it`, async (t) => {
      const { waiting, answer } = held();
      const { edge } = await startSite(t, answer, { limits: { halfClosedMs: 60_000 } });
      const client = connectRaw(edge.port);
      client.socket.end(request);
      for (let i = 0; i < request.split('HTTP/1.').length - 1; i++) {
        await eventually('asked', () => waiting.length === i + 1);
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve)); // the end is read
        waiting[i]?.();
      }
      assert.match(await client.closed, /^HTTP\/1\.[01] 200 [\s\S]*late/);
      await eventually('logged', () => edge.log.length >= 1);
      assert.ok(edge.log.every((line) => line.result === 'TCP_MISS/200'));
    });
  }

  test('a client that has ended its side gets all of a large answer', async (t) => {
    const { edge } = await startSite(t, reply(LARGE, { 'cache-control': 'no-store' }), {
      limits: { halfClosedMs: 60_000 },
    });
    const client = connectRaw(edge.port);
    client.socket.end(`GET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
    assert.ok((await client.closed).length > LARGE.length);
  });

  test('a client that has ended its side counts as gone if nothing is sent to it for the limit, and at once by a reset', async (t) => {
    for (const [halfClosedMs, leave] of [
      [50, 'end'],
      [600_000, 'resetAndDestroy'],
    ] as const) {
      const { waiting, answer } = held();
      const { edge } = await startSite(t, answer, { limits: { halfClosedMs } });
      const client = connectRaw(edge.port, `GET / HTTP/1.1\r\n${HOST}\r\n`);
      await eventually('asked', () => waiting.length === 1);
      client.socket[leave]();
      await eventually('given up', () => edge.log.length === 1 && edge.edge.underWay === 0);
      assert.equal(client.text(), '');
    }
  });

  for (const version of ['1.1', '1.0'])
    test(`a client that ends its side in a later request of the connection counts as gone, too: HTTP/${version}`, async (t) => {
      const body = 'x'.repeat(20_000_000); // more than a system keeps for a connection
      const { edge } = await startSite(
        t,
        (request, response) => {
          if (request.target === '/large') reply(body, { 'cache-control': 'max-age=600' })(request, response);
        },
        { cacheBytes: 256 * 1024 * 1024 },
      );
      await edge.get('/large');
      const client = connect({ port: edge.port, host: '127.0.0.1', allowHalfOpen: true }).pause();
      client.end(`GET /large HTTP/1.1\r\n${HOST}\r\nGET /silent HTTP/${version}\r\n${HOST}\r\n`);
      await eventually('it waits for the client', () => edge.edge.underWay === 1 && client.writableFinished);
      client.on('error', () => undefined).resume();
      await eventually('given up', () => edge.log.length === 3 && edge.edge.underWay === 0);
      assert.deepEqual(
        edge.log.map(({ target, result }) => `${target} ${result}`),
        ['/large TCP_MISS/200', '/large TCP_MEM_HIT/200', '/silent NONE/499'],
      );
    });

  test('a client that sends many requests at once leaves no listener for each', async (t) => {
    const warnings: string[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning.message); // the warning itself holds the socket
    process.on('warning', onWarning);
    t.after(() => process.off('warning', onWarning));
    const { waiting, answer } = held();
    const { edge } = await startSite(
      t,
      (request, response) => {
        if (request.target === '/first') answer(request, response);
        else reply('late', { 'cache-control': 'no-store' })(request, response);
      },
      { limits: { halfClosedMs: 60_000 } },
    );
    const client = connectRaw(edge.port);
    client.socket.end(['/first', ...Array(20).fill('/')].map((path) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`).join(''));
    await eventually('asked', () => waiting.length === 1);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve)); // the end is read
    waiting[0]?.();
    assert.equal((await client.closed).split('late').length - 1, 21);
    assert.deepEqual(warnings, []);
  });
});
