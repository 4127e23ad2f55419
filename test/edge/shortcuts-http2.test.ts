/** Answers that are kept ready, on the streams of one connection: shared with HTTP/1.1, side by side, and not taken by their client. */
import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { describe, type TestContext, test } from 'node:test';
import type { EdgeLimits } from '../../src/edge/limits.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { answerOf, ask, open } from '../support/edge/http2-client.ts';
import { connectFrames, FLAGS, fields, frame, uint32 } from '../support/edge/http2-frames.ts';
import { type HttpsEdge, startHttpsEdge } from '../support/edge/https-edge.ts';
import { reply } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const HOUR = { 'cache-control': 'max-age=3600' };
const NEEDS = needs('openssl', 'curl');
const GET = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', SITE_HOST],
  [':path', '/'],
] as const;
const PLAIN = fields(...GET);
const PIPED = fields(...GET, ['pragma', 'x']);
const ENDED = FLAGS.endHeaders | FLAGS.endStream;
const NO_WINDOW = Buffer.from([0, 4, 0, 0, 0, 0]);
const streamOf = (index: number) => 2 * index + 1;

/** Starts an edge with a ready answer. */
async function startLearned(t: TestContext, body: string, limits: Partial<EdgeLimits> = {}): Promise<HttpsEdge> {
  const edge = await startHttpsEdge(t, reply(body, HOUR), { limits });
  const session = open(t, edge);
  for (const _ of ['miss', 'hit']) await answerOf(ask(session, { ':path': '/' }));
  await eventually('both are logged', () => edge.log.length === 2);
  session.destroy();
  edge.log.length = 0;
  return edge;
}

async function prepared({ registry }: HttpsEdge): Promise<number> {
  const metric = await registry.getSingleMetric('causeway_edge_prepared_answers_total')?.get();
  return metric?.values[0]?.value ?? 0;
}

const codes = (edge: HttpsEdge, code: string) => edge.log.filter((line) => line.result === code).length;

describe('ready answers over HTTP/2', NEEDS, () => {
  test('a ready answer is shared by HTTP/2 and HTTP/1.1 over TLS, and not with plain HTTP/1.1', async (t) => {
    const edge = await startHttpsEdge(t, reply('hello', HOUR));
    const url = `https://${SITE_HOST}`;
    const ask = async (target: string, version: string) => {
      const before = await prepared(edge);
      await edge.curl(target, version);
      return (await prepared(edge)) - before;
    };
    assert.deepEqual([await ask(`${url}/a`, '--http2'), await ask(`${url}/a`, '--http2')], [0, 0]);
    assert.deepEqual([await ask(`${url}/a`, '--http1.1'), await ask(`${url}/a`, '--http2')], [1, 1]);
    assert.deepEqual([await ask(`${url}/b`, '--http1.1'), await ask(`${url}/b`, '--http1.1')], [0, 0]);
    assert.deepEqual([await ask(`${url}/b`, '--http2'), await ask(`${url}/b`, '--http1.1')], [1, 1]);
    assert.equal(await ask(`http://${SITE_HOST}/a`, '--http1.1'), 0);
  });

  test('ready answers are sent on a hundred streams at once, again and again, until the connection has carried enough', async (t) => {
    const edge = await startLearned(t, 'x'.repeat(5_000), { maxRequestsPerConnection: 1_000 });
    const session = open(t, edge);
    for (let round = 0; round < 10; round++) {
      const asked = Array.from({ length: 100 }, () => answerOf(ask(session, { ':path': '/' })));
      for (const { status, body, code } of await Promise.all(asked))
        assert.deepEqual([status, body.length, code], [200, 5_000, 0]);
    }
    await eventually('the connection ends', () => session.closed);
    await eventually('all are logged', () => codes(edge, 'TCP_MEM_HIT/200') === 1_000);
    assert.equal(await prepared(edge), 1_000);
  });

  test('ready answers that are reset on their way are logged like those of the pipeline', async (t) => {
    const edge = await startLearned(t, 'x'.repeat(100_000));
    for (const head of [PLAIN, PIPED]) {
      const client = await connectFrames(edge.httpsPort, SITE_HOST, Buffer.from([0, 4, 0, 0, 0x27, 0x10]));
      await client.send(frame('headers', ENDED, 1, head));
      await client.send(frame('headers', ENDED, 3, head));
      await eventually('both are under way', () => edge.edge.underWay === 2);
      await client.send(frame('reset', 0, 1, uint32(constants.NGHTTP2_CANCEL)));
      await client.send(frame('reset', 0, 3, uint32(constants.NGHTTP2_INTERNAL_ERROR)));
      await eventually('both are logged', () => edge.log.length % 2 === 0 && edge.edge.underWay === 0);
      client.socket.destroy();
    }
    assert.equal(await prepared(edge), 2);
    const told = edge.log.map(
      ({ client: _client, endedAt: _at, durationMs: _ms, requestBytes: _bytes, ...same }) => same,
    );
    assert.equal(told[0]?.result, 'TCP_MEM_HIT/499');
    for (const line of told) assert.deepEqual(line, told[0]);
  });

  test('ready answers that are not read count as in flight, are cut in time, and do not pile up', async (t) => {
    const edge = await startLearned(t, 'x'.repeat(100_000), { clientIdleMs: 1_000 });
    const client = await connectFrames(edge.httpsPort, SITE_HOST, NO_WINDOW);
    await client.send(
      Buffer.concat(Array.from({ length: 40 }, (_, index) => frame('headers', ENDED, streamOf(index), PLAIN))),
    );
    await eventually('all are under way', () => edge.edge.underWay === 40);
    await eventually('all are cut', () => codes(edge, 'TCP_MEM_HIT/499') === 40);
    assert.equal(await prepared(edge), 10, 'the others are left to the pipeline');
    assert.equal(edge.edge.underWay, 0);
    assert.equal(client.isClosed, false);
    client.socket.destroy();
  });

  test('ready answers are waited for when the edge ends, and logged as cut if that takes too long', async (t) => {
    const edge = await startLearned(t, 'x'.repeat(100_000));
    const client = await connectFrames(edge.httpsPort, SITE_HOST, NO_WINDOW);
    await client.send(Buffer.concat([1, 3].map((stream) => frame('headers', ENDED, stream, PLAIN))));
    await eventually('both are under way', () => edge.edge.underWay === 2);
    const closed = edge.edge.close(1_500);
    await client.send(Buffer.concat([frame('window', 0, 1, uint32(200_000)), frame('window', 0, 0, uint32(500_000))]));
    await closed;
    assert.deepEqual(
      edge.log.map((line) => line.result),
      ['TCP_MEM_HIT/200', 'TCP_MEM_HIT/503'],
    );
  });

  test('ready answers leave a connection idle like others', async (t) => {
    const edge = await startLearned(t, 'hello', { keepAliveMs: 600 });
    const session = open(t, edge);
    for (let asked = 0; asked < 3; asked++)
      assert.equal((await answerOf(ask(session, { ':path': '/' }))).body, 'hello');
    await eventually('it is ended', () => session.closed);
    assert.equal(await prepared(edge), 3);
  });
});

test('requests through a trusted proxy are not answered by ready answers of other clients', NEEDS, async (t) => {
  const proxies = { trusted: ['127.0.0.1'], protocol: 'off' } as const;
  const edge = await startHttpsEdge(t, reply('hello', HOUR), { proxies });
  const session = open(t, edge);
  for (let asked = 0; asked < 4; asked++) await answerOf(ask(session, { ':path': '/' }));
  assert.equal(await prepared(edge), 0);
});
