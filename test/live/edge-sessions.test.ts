/** Sessions while a viewer watches: log lines, changes of rules, and counts. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { createLocalTime } from '../../src/lib/local-time.ts';
import { countRequest, noCounters } from '../../src/logs/counters.ts';
import { HeavyHitters } from '../../src/logs/heavy-hitters.ts';
import { type AccessRecord, formatLine } from '../../src/logs/line.ts';
import { formatSpooledLine, parseSpooledLine } from '../../src/logs/spooled-line.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { eventually } from '../support/eventually.ts';
import { media, openFlv, sees, startLiveEdge } from '../support/live/live-edge.ts';

const FLV = '/live/a.flv';
const UTC = createLocalTime('UTC');

/** Also what the log's lines were made of. */
async function startOnAir(t: TestContext) {
  const records: { readonly domainId: number; readonly record: AccessRecord }[] = [];
  const edge = await startLiveEdge(t, {
    accessLog: {
      write: (domainId, record) => void records.push({ domainId, record }),
      writeHit: () => undefined,
      countOrigin: () => undefined,
    },
  });
  edge.owner.tell('a', 'live', 'b1');
  edge.owner.push(...media('V1', 'k1'));
  await eventually('known', async () => (await edge.get(FLV, { method: 'HEAD' })).status === 200);
  await eventually('logged', () => records.length > 0);
  records.length = 0;
  return { ...edge, records };
}

describe('log lines of a viewer', () => {
  test('lines of each minute and of the end add up to the request, and only the first counts as one', async (t) => {
    const { port, owner, advance, records } = await startOnAir(t);
    const viewer = await openFlv(port, `${FLV}?auth_key=secret`);
    await sees(viewer, 'V1 k1');
    advance(59_000);
    advance(1_000);
    await eventually('the first', () => records.length === 1);
    owner.push(...media('v2'));
    await sees(viewer, 'V1 k1 v2');
    advance(60_000);
    await eventually('the second', () => records.length === 2);
    for (const flv of owner.flv) flv.end();
    await eventually('the last', () => records.length === 3);
    const lines = records.map(({ domainId, record }) => formatSpooledLine(domainId, record, UTC));
    assert.deepEqual(
      lines.map((line) => line.split('\t', 1)[0]),
      ['1', '01', '01'],
    );
    for (const line of lines)
      assert.match(line, /\t\/live\/a\.flv\?auth_key=\*\*\*\tHTTP\/1\.1\tTCP_HIT\/200\tvideo\/x-flv\t/);
    const counters = noCounters();
    for (const line of lines) countRequest(counters, parseSpooledLine(line)?.request ?? assert.fail());
    assert.deepEqual([counters.requests, counters.hits, counters.status2xx], [1, 1, 1]);
    const [first, second] = records.map(({ record }) => record);
    assert.ok(first && second);
    assert.equal(second.responseBytes, 11 + 6 + 4); // one tag
    assert.deepEqual([first.requestBytes > 0, second.requestBytes], [true, 0]);
    assert.ok(first.durationMs >= 60_000 && second.durationMs >= 60_000);
    assert.ok(records.reduce((sum, { record }) => sum + record.durationMs, 0) < 125_000);
  });

  test('bytes are counted while the answer continues, and once', async (t) => {
    const { port, owner, records, registry } = await startOnAir(t);
    const sentBytes = async () =>
      (await registry.getSingleMetric('causeway_edge_sent_bytes_total')?.get())?.values[0]?.value ?? 0;
    const before = await sentBytes();
    const viewer = await openFlv(port, FLV);
    await sees(viewer, 'V1 k1');
    const during = await sentBytes();
    assert.ok(during > before);
    owner.push(...media('v2'));
    await sees(viewer, 'V1 k1 v2');
    assert.equal((await sentBytes()) - during, 11 + 6 + 4); // one tag
    for (const flv of owner.flv) flv.end();
    await eventually('the last', () => records.length === 1);
    assert.equal((await sentBytes()) - before, records[0]?.record.responseBytes);
  });

  test('a viewer that leaves has a line with the status that it was sent', async (t) => {
    const { port, records } = await startOnAir(t);
    const viewer = await openFlv(port, FLV);
    await sees(viewer, 'V1 k1');
    viewer.leave();
    await eventually('logged', () => records.length === 1);
    assert.deepEqual([records[0]?.record.status, records[0]?.record.isContinued], [200, false]);
  });

  test('a marked line counts for its domain, and older versions read it as a request', () => {
    const record: AccessRecord = {
      clientAddress: '192.0.2.1',
      endedAt: 0,
      durationMs: 1,
      requestBytes: 2,
      responseBytes: 3,
      host: 'a',
      method: 'GET',
      target: '/',
      httpVersion: '1.1',
      cacheCode: 'TCP_HIT',
      status: 200,
      contentType: undefined,
      referer: undefined,
      userAgent: undefined,
    };
    for (const [domainId, isContinued] of [
      [0, false],
      [0, true],
      [7, false],
      [2_147_483_647, true],
    ] as const) {
      const line = formatSpooledLine(domainId, { ...record, isContinued }, UTC);
      const read = parseSpooledLine(line);
      assert.deepEqual([read?.domainId, read?.request.isContinued], [domainId, isContinued]);
      assert.equal(line.slice(read?.prefixChars), formatLine(record, UTC));
    }
    const hitters = new HeavyHitters(2);
    hitters.add('/a', 10);
    hitters.add('/a', 5, true);
    assert.deepEqual(hitters.top(1), [{ value: '/a', requests: 1, bytes: 15 }]);
  });
});

describe('a viewer that is no longer allowed', () => {
  const rows = {
    'the domain is closed': { state: 'closed' },
    'its address is refused': { access: { deniedAddresses: ['127.0.0.1'] } },
    'its Referer is refused': { access: { referer: { mode: 'deny', allowsBlank: false, entries: ['x.example'] } } },
    'its User-Agent is refused': { access: { deniedUserAgents: ['player*'] } },
  } as const;
  for (const [what, change] of Object.entries(rows)) {
    test(`a viewer is cut when ${what}`, async (t) => {
      const { port, put, edge } = await startOnAir(t);
      const viewer = await openFlv(port, FLV, { 'user-agent': 'player/1' });
      await sees(viewer, 'V1 k1');
      edge.recheck();
      assert.equal(viewer.ended(), undefined);
      put({ name: SITE_HOST, ...change });
      edge.recheck();
      await eventually('cut', () => viewer.ended() !== undefined);
    });
  }

  test('a viewer is cut when the domain is gone', async (t) => {
    const { port, remove } = await startOnAir(t);
    const viewer = await openFlv(port, FLV);
    remove(SITE_HOST);
    await eventually('cut', () => viewer.ended() !== undefined);
  });
});

test('the live process learns who watches', async (t) => {
  const { port, get, owner } = await startOnAir(t);
  owner.answer('/streams/1/live/a/hls/b1/index.m3u8', (response) => {
    response
      .writeHead(200, { 'Content-Type': 'application/vnd.apple.mpegurl', 'Cache-Control': 'max-age=9' })
      .end('#EXTM3U\n');
  });
  const viewers = await Promise.all([openFlv(port, FLV), openFlv(port, FLV)]);
  for (const agent of ['A', 'B', 'A']) await get('/live/a.m3u8', { headers: ['User-Agent', agent] });
  const last = () => JSON.stringify(owner.reports.at(-1)).replace(/"[A-Za-z0-9_-]{16}"/g, '"hash"');
  const report = (flv: number) =>
    JSON.stringify({
      worker: 'edge-worker-1',
      streams: [{ domain: 1, app: 'live', stream: 'a', flv, websocket: 0, hls: ['hash', 'hash'] }],
    });
  await eventually('all', () => last() === report(2));
  viewers[0]?.leave();
  await eventually('one fewer', () => last() === report(1));
});

test('an edge that closes ends its viewers, and waits for none', async (t) => {
  const { port, edge } = await startOnAir(t);
  const viewer = await openFlv(port, FLV);
  await sees(viewer, 'V1 k1');
  await edge.close(60_000);
  await eventually('ended', () => viewer.ended() === 'whole');
});
