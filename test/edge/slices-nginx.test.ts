/** Range back-source before a real web server: it gives the same answers through the edge, and is asked for slices alone. */
import assert from 'node:assert/strict';
import { renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { connectRaw, fetchFrom, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { MIB, madeBytes, sliceRange } from '../support/edge/sliceable.ts';
import { assertBytes, FILE, mark, range } from '../support/edge/sliced.ts';
import { eventually } from '../support/eventually.ts';
import { startNginx } from '../support/nginx.ts';
import { needs } from '../support/runner/needs.ts';

const LOG = '$uri $http_range $status';

async function start(t: TestContext, server = '') {
  const nginx = await startNginx(t, { server: `expires 1h; ${server}`, logFormat: LOG });
  const file = join(nginx.root, 'film.mp4');
  writeFileSync(file, FILE);
  const edge = await startTestEdge(t, [nginx.port], { cacheBytes: 64 * MIB });
  edge.put({ name: SITE_HOST, rangeBackSource: true });
  // The last probe may be logged late.
  const asked = () => nginx.logLines().filter((line) => !line.startsWith('/ '));
  return { nginx, edge, file, asked };
}

const lines = (slices: readonly number[], status = 206) =>
  slices.map((slice) => `/film.mp4 bytes=${sliceRange(slice)} ${status}`);

/** Waits for nginx's log: it logs a request after the answer, maybe after the client has it, and after a later one's. */
async function assertAsked(asked: () => readonly string[], expected: readonly string[]): Promise<void> {
  await eventually('logged', () => asked().length >= expected.length);
  assert.deepEqual(asked().toSorted(), expected.toSorted());
}

describe('nginx as origin of slices', needs('nginx'), () => {
  test('ranges, HEAD and conditions are answered from slices as nginx answers them', async (t) => {
    const { nginx, asked, edge } = await start(t);
    const texts = ['0-', '0-0', `${MIB}-`, `${MIB - 1}-${MIB}`, `${5 * MIB - 1}-`, '-1', `-${2 * MIB}`, `${5 * MIB}-`];
    const { headers } = await fetchFrom(nginx.port, '/film.mp4', { method: 'HEAD' });
    const tag = headers['etag'] ?? '';
    const modified = headers['last-modified'] ?? '';
    const requests = [
      {},
      { method: 'HEAD' },
      ...texts.map((text) => range(text)),
      range('5-9', 'If-Range', tag),
      range('5-9', 'If-Range', '"other"'),
      { headers: ['If-None-Match', tag] },
      { headers: ['If-Modified-Since', modified] },
      range('5-9', 'If-None-Match', tag),
    ];
    for (const request of requests) {
      const [direct, through] = [
        await fetchFrom(nginx.port, '/film.mp4', request),
        await edge.get('/film.mp4', request),
      ];
      const what = JSON.stringify(request);
      assert.equal(through.status, direct.status, what);
      assert.equal(through.headers['content-range'], direct.headers['content-range'], what);
      if (direct.status === 416) continue;
      assert.equal(through.headers['etag'], tag, what);
      assert.equal(through.headers['content-length'], direct.headers['content-length'], what);
      assert.ok(through.body === direct.body, what);
    }
    const several = await edge.get('/film.mp4', range(`0-1,${3 * MIB}-${3 * MIB + 1}`));
    assert.equal(several.status, 206);
    assert.match(several.headers['content-type'] ?? '', /^multipart\/byteranges/);
    assert.equal(asked().filter((line) => line.includes(`bytes=${sliceRange(0)}`)).length, 1);
  });

  test('a whole file of nginx takes five requests, then none', async (t) => {
    const { asked, edge } = await start(t, 'gzip on; gzip_types *;');
    for (const expected of ['MISS', 'HIT']) {
      const received = await edge.get('/film.mp4', { headers: ['Accept-Encoding', 'gzip'] });
      assertBytes(received, FILE);
      assert.equal(mark(received), expected);
    }
    await assertAsked(asked, lines([0, 1, 2, 3, 4]));
  });

  test('a stale object of nginx is confirmed by one 304', async (t) => {
    const { asked, edge } = await start(t);
    await edge.get('/film.mp4');
    edge.advance(2 * 3600 * 1000);
    const received = await edge.get('/film.mp4', range(`${MIB}-${MIB + 1}`));
    assertBytes(received, FILE.subarray(MIB, MIB + 2), 206);
    assert.equal(mark(received), 'REVALIDATED');
    await assertAsked(asked, [...lines([0, 1, 2, 3, 4]), ...lines([1], 304)]);
  });

  test('a file of nginx that is replaced between two slices cuts its readers, and is served anew', async (t) => {
    const { asked, edge, file } = await start(t);
    await edge.get('/film.mp4', range('0-1'));
    const other = madeBytes(5 * MIB, 'two');
    writeFileSync(`${file}.new`, other);
    // Of the same length, so that only its time tells them apart.
    utimesSync(`${file}.new`, 1_000_000_000, 1_000_000_000);
    renameSync(`${file}.new`, file);
    const cut = await edge.get('/film.mp4');
    assert.ok(!cut.isWhole);
    assert.ok(FILE.subarray(0, cut.body.length).equals(Buffer.from(cut.body, 'latin1')));
    assertBytes(await edge.get('/film.mp4'), other);
    assertBytes(await edge.get('/film.mp4', range(`${MIB - 1}-${MIB}`)), other.subarray(MIB - 1, MIB + 1), 206);
    assert.ok(asked().length <= 9);
  });

  test('an nginx that does not support ranges is asked once', async (t) => {
    const { asked, edge } = await start(t, 'max_ranges 0;');
    assertBytes(await edge.get('/film.mp4', range(`${MIB}-${MIB + 1}`)), FILE);
    await eventually('stored', async () => mark(await edge.get('/film.mp4')) === 'HIT');
    assertBytes(await edge.get('/film.mp4', range(`${MIB}-${MIB + 1}`)), FILE.subarray(MIB, MIB + 2), 206);
    await assertAsked(asked, [`/film.mp4 bytes=${sliceRange(1)} 200`]);
  });

  test('a slow nginx: the first bytes reach the client before a slice is complete', async (t) => {
    const { edge } = await start(t, 'limit_rate_after 100k; limit_rate 20k;');
    const client = connectRaw(edge.port, `GET /film.mp4 HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
    // The slice would take most of a minute.
    await eventually('bytes', () => client.text().length > 50_000);
    client.socket.destroy();
  });

  test('missing and empty files of nginx are answered', async (t) => {
    const { nginx, edge } = await start(t);
    writeFileSync(join(nginx.root, 'empty'), '');
    assert.equal((await edge.get('/missing')).status, 404);
    const empty = await edge.get('/empty');
    assert.deepEqual([empty.status, empty.body], [200, '']);
  });
});
