/** HLS of a live domain through the edge's own cache, from a scripted live process. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { makeAuthKey } from '../../src/sites/live-key.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { startLiveEdge } from '../support/live/live-edge.ts';

const TYPE = 'application/vnd.apple.mpegurl';
const HLS = '/streams/1/live/a/hls/b1';
const MASTER = '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na/b1/media.m3u8\n';
const MEDIA = '#EXTM3U\n#EXT-X-MAP:URI="init-0.mp4"\n#EXTINF:2,\n12.m4s\n#EXT-X-PART:DURATION=0.3,URI="13.0.m4s"\n';

function give(response: ServerResponse, body: string, type: string, cacheControl: string): void {
  response
    .writeHead(200, { 'Content-Type': type, 'Cache-Control': cacheControl, 'Content-Length': body.length })
    .end(body);
}

async function startOnAir(t: TestContext, options: Parameters<typeof startLiveEdge>[1] = {}) {
  const edge = await startLiveEdge(t, options);
  const { owner, get } = edge;
  owner.answer(`${HLS}/index.m3u8`, (response) => give(response, MASTER, TYPE, 'max-age=60'));
  owner.answer(`${HLS}/media.m3u8`, (response) => give(response, MEDIA, TYPE, 'max-age=60'));
  owner.answer(`${HLS}/12.m4s`, (response) => give(response, 'segment', 'video/mp4', 'max-age=3600, immutable'));
  owner.tell('a', 'live', 'b1');
  await eventually('known', async () => (await get('/live/a.flv', { method: 'HEAD' })).status === 200);
  return edge;
}

test("a playlist passes each viewer's query on, and is one request to the owner", async (t) => {
  const { get, owner } = await startOnAir(t);
  const master = await get('/live/a.m3u8?auth_key=1-a&x="');
  assert.equal(master.body, MASTER.replace('media.m3u8', 'media.m3u8?auth_key=1-a&x=%22'));
  assert.deepEqual(
    [master.headers['cache-control'], master.headers['content-type'], master.headers['access-control-allow-origin']],
    ['no-store', TYPE, '*'],
  );
  assert.equal((await get('/live/a.m3u8')).body, MASTER);
  const media = await get('/live/a/b1/media.m3u8?_HLS_part=0&auth_key=2&_HLS_msn=13');
  assert.equal(
    media.body,
    '#EXTM3U\n#EXT-X-MAP:URI="init-0.mp4?auth_key=2"\n#EXTINF:2,\n12.m4s?auth_key=2\n#EXT-X-PART:DURATION=0.3,URI="13.0.m4s?auth_key=2"\n',
  );
  await get('/live/a/b1/media.m3u8?auth_key=3&_HLS_msn=13&_HLS_part=0');
  await get('/live/a/b1/media.m3u8?_HLS%5Fmsn=0013&_HLS_part=00&_HLS_skip=no&_HLS_x=1');
  // The multivariant playlist is the same for all.
  await get('/live/a.m3u8?_HLS_msn=7&_HLS_part=1');
  assert.deepEqual(owner.asked, [`${HLS}/index.m3u8`, `${HLS}/media.m3u8?_HLS_msn=13&_HLS_part=0`]);
  for (const skip of ['YES', 'v2']) await get(`/live/a/b1/media.m3u8?_HLS_skip=${skip}`);
  assert.deepEqual(owner.asked.slice(2), [`${HLS}/media.m3u8?_HLS_skip=YES`]);
});

test('invalid directives are 400, and the owner is not asked', async (t) => {
  const { get, owner } = await startOnAir(t);
  const values = [
    '-1',
    'NaN',
    '1e3',
    '',
    '+1',
    '%31x',
    '1.0',
    '0x1',
    '1&_HLS_msn=1',
    '1&_HLS_part=-1',
    '1&_HLS_part=',
    '9'.repeat(40),
  ];
  for (const query of [...values.map((value) => `_HLS_msn=${value}`), '_HLS_part=1', '_HLS_skip=YES&_HLS_skip=YES']) {
    for (const path of ['/live/a.m3u8', '/live/a/b1/media.m3u8']) {
      const { status, headers } = await get(`${path}?auth_key=1&${query}`);
      assert.deepEqual([status, headers['x-cache']], [400, 'ERROR liveDirectives'], query);
      assert.equal(headers['access-control-allow-origin'], '*');
    }
  }
  assert.deepEqual(owner.asked, []);
});

test('many viewers of one part, each with a key of its own, are one request to its owner', async (t) => {
  const { get, owner } = await startOnAir(t);
  const waiting: ServerResponse[] = [];
  owner.answer(`${HLS}/13.0.m4s`, (response) => void waiting.push(response));
  owner.answer(`${HLS}/media.m3u8`, (response) => void waiting.push(response));
  for (const path of ['13.0.m4s', 'media.m3u8?_HLS_msn=13&_HLS_part=1']) {
    const mark = path.includes('?') ? '&' : '?';
    const viewers = Array.from({ length: 100 }, (_, i) => get(`/live/a/b1/${path}${mark}auth_key=${i}`));
    await eventually('asked', () => waiting.length === 1);
    const [response = assert.fail()] = waiting.splice(0);
    give(response, 'p', path.includes('?') ? TYPE : 'video/mp4', 'max-age=60');
    for (const viewer of viewers) assert.match((await viewer).body, /^p/);
  }
  assert.equal(owner.asked.length, 2);
});

// video-dev/hls.js#6976
test('a part that the owner cuts short is not stored: the next viewer gets it whole', async (t) => {
  const { get, owner } = await startOnAir(t);
  owner.answer(`${HLS}/13.0.m4s`, (response) => {
    response.writeHead(200, { 'Content-Type': 'video/mp4', 'Cache-Control': 'max-age=60', 'Content-Length': 9 });
    response.write('half');
    setImmediate(() => response.destroy());
  });
  const { status, headers: refused } = await get('/live/a/b1/13.0.m4s');
  assert.deepEqual([status, refused['x-cache']], [503, 'ERROR liveUnavailable']);
  owner.answer(`${HLS}/13.0.m4s`, (response) => give(response, 'the whole', 'video/mp4', 'max-age=60'));
  for (const cache of ['MISS', 'HIT']) {
    const { body, headers } = await get('/live/a/b1/13.0.m4s');
    assert.deepEqual([body, headers['content-length'], headers['x-cache']], ['the whole', '9', cache]);
  }
});

test("parts and segments are passed on unchanged, and stored ones are not kept ready beyond the stream's state", async (t) => {
  const origin = await startOrigin(t, (_, response) => void response.writeHead(404).end('nothing'));
  const { get, owner } = await startOnAir(t, { originPorts: [origin.port] });
  const path = '/live/a/b1/12.m4s';
  for (const cache of ['MISS', 'HIT', 'HIT', 'HIT']) {
    const { body, headers } = await get(path);
    assert.deepEqual([body, headers['x-cache']], ['segment', cache]);
    assert.equal(headers['cache-control'], 'max-age=3600, immutable');
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.match(headers['date'] ?? '', / GMT$/);
  }
  assert.equal((await get(path, { method: 'HEAD' })).headers['content-length'], '7');
  owner.tell('a', 'paused');
  await eventually('refused', async () => (await get(path)).status === 403);
  owner.tell('a', 'live', 'b2');
  await eventually('another broadcast', async () => (await get(path)).headers['x-cache'] === 'ERROR noStream');
  owner.tell('a', 'none');
  await eventually('ordinary', async () => (await get(path)).body === 'nothing');
  assert.deepEqual(owner.asked, [`${HLS}/12.m4s`]);
});

test('a stream that is not on air is absent if the domain has no origin to ask', async (t) => {
  const { get } = await startOnAir(t);
  for (const path of ['/live/none.m3u8', '/live/none/b1/media.m3u8', '/live/none/b1/1.m4s', '/live/none.flv'])
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await get(path, { method });
      assert.deepEqual([status, headers['x-cache']], [404, 'ERROR noStream'], `${method} ${path}`);
    }
  assert.equal((await get('/index.html')).headers['x-cache'], 'ERROR noOrigin');
});

describe('a failure of the owner', () => {
  const rows: readonly (readonly [answered: number, status: number, mark: string])[] = [
    [404, 404, 'ERROR noStream'],
    [400, 400, 'ERROR liveTooEarly'],
    [503, 503, 'ERROR liveUnavailable'],
  ];
  for (const [answered, status, mark] of rows) {
    test(`a ${answered} of the owner reaches each viewer, and the owner is asked once for all`, async (t) => {
      const { get, owner } = await startOnAir(t);
      owner.answer(`${HLS}/media.m3u8`, (response) => {
        setImmediate(() => response.writeHead(answered, { 'Cache-Control': 'no-store' }).end('no'));
      });
      const viewers = Array.from({ length: 20 }, () => get('/live/a/b1/media.m3u8?_HLS_msn=99'));
      for (const viewer of viewers) {
        const { status: given, headers } = await viewer;
        assert.deepEqual([given, headers['x-cache'], headers['cache-control']], [status, mark, 'no-store']);
        assert.equal(headers['access-control-allow-origin'], '*');
      }
      assert.equal(owner.asked.length, 1);
    });
  }

  test('a silent owner is answered 503 to viewers that waited for it, and they do not ask again', async (t) => {
    const { get, owner } = await startOnAir(t, { limits: { waitMs: 50, answerMs: 300 } });
    owner.answer(`${HLS}/media.m3u8`, () => undefined);
    const viewers = Array.from({ length: 10 }, () => get('/live/a/b1/media.m3u8?_HLS_msn=13'));
    for (const viewer of viewers) assert.equal((await viewer).status, 503);
    assert.equal(owner.asked.length, 1);
  });
});

test('a key that the domain requires is checked in each request, and is not in the log', async (t) => {
  const key = 'k'.repeat(16);
  const { get, owner, log } = await startLiveEdge(t, { keys: { publish: [], play: [key] } });
  owner.answer(`${HLS}/index.m3u8`, (response) => give(response, MASTER, TYPE, 'max-age=60'));
  owner.answer(`${HLS}/12.m4s`, (response) => give(response, 'segment', 'video/mp4', 'max-age=60'));
  owner.tell('a', 'live', 'b1');
  const value = makeAuthKey({ path: '/live/a.m3u8', key, expiresAt: Date.now() + 600_000, random: 'r' });
  await eventually('known', async () => (await get(`/live/a.m3u8?auth_key=${value}`)).status === 200);
  const allowed = `/live/a/b1/12.m4s?auth_key=${value}`;
  assert.equal((await get(allowed)).body, 'segment');
  for (const path of [
    '/live/a.m3u8',
    '/live/a/b1/12.m4s',
    `/live/a.flv?auth_key=${value}`,
    '/live/a.m3u8?auth_key=1-2-3-4',
  ]) {
    const { status, headers } = await get(path);
    assert.deepEqual([status, headers['x-cache']], [403, 'DENIED playKey'], path);
  }
  await get('/live/a.m3u8', { headers: ['Referer', 'http://www.example.com/live/a.m3u8?auth%5Fkey=1'] });
  assert.ok(log.length > 0);
  for (const line of log) assert.doesNotMatch(`${line.target} ${line.referer}`, /auth(?:_|%5F)key=(?!\*\*\*)/);
});

test('a playlist is compressed for clients that accept it if the domain compresses', async (t) => {
  const edge = await startOnAir(t);
  edge.put({ name: SITE_HOST, pageCompress: true });
  const plain = await edge.get('/live/a.m3u8');
  assert.deepEqual([plain.headers['content-encoding'], plain.headers.vary], [undefined, 'Accept-Encoding']);
  const coded = await edge.get('/live/a.m3u8?auth_key=9', { headers: ['Accept-Encoding', 'br, gzip'] });
  assert.equal(coded.headers['content-encoding'], 'gzip');
  assert.equal(gunzipSync(Buffer.from(coded.body, 'latin1')).toString(), MASTER.replace('m3u8', 'm3u8?auth_key=9'));
  assert.equal(edge.owner.asked.length, 1);
});

test('an address whose requests wait for too many files is refused, and other addresses are not', async (t) => {
  // An address may have as much as it leaves free.
  const { get, owner } = await startOnAir(t, { limits: { maxWaits: 5 } });
  const waiting: ServerResponse[] = [];
  for (const part of ['13.0.m4s', '13.1.m4s'])
    owner.answer(`${HLS}/${part}`, (response) => void waiting.push(response));
  const answered: number[] = [];
  const ask = async (from: string, part = '13.0.m4s') => {
    const answer = await get(`/live/a/b1/${part}`, { from });
    answered.push(answer.status);
    return answer;
  };
  const asked = Array.from({ length: 4 }, () => ask('127.0.0.1'));
  await eventually('one is refused', () => answered.length === 1 && waiting.length === 1);
  const refused = await ask('127.0.0.1');
  assert.deepEqual(
    [refused.status, refused.headers['x-cache'], refused.headers['retry-after']],
    [503, 'ERROR liveWaits', '2'],
  );
  asked.push(ask('127.0.0.2', '13.1.m4s'));
  await eventually('the other address waits', () => waiting.length === 2);
  for (const response of waiting) give(response, 'part', 'video/mp4', 'max-age=3600, immutable');
  await Promise.all(asked);
  assert.deepEqual(answered, [503, 503, 200, 200, 200, 200]);
  assert.equal((await ask('127.0.0.1')).status, 200, 'a file that is held is not waited for');
});
