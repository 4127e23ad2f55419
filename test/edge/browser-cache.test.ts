/** What browsers are told to keep: a real edge between a client and a scripted origin. Edge rule 5 */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { someText, startCodedEdge } from '../support/edge/coded.ts';
import { type Received, SITE_HOST } from '../support/edge/edge.ts';
import { reply } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';

const HTML = { 'content-type': 'text/html', 'cache-control': 'public, max-age=60', expires: '0', etag: '"1"' };
const TEXT = someText(3000);
const SITE = { expiresSeconds: 3600, accessControlMaxAgeSeconds: 600 };

/** An hour from about now, and no age. */
function assertKept({ headers, status }: Received, what: string): void {
  assert.deepEqual([headers['cache-control'], headers['age']], ['max-age=3600', undefined], `${what} ${status}`);
  const left = Date.parse(headers['expires'] ?? '') - Date.now();
  assert.ok(left > 3_500_000 && left < 3_700_000, `${what}: ${headers['expires']}`);
}

describe('expires', () => {
  test('expires is on every answer of a page: a miss, a hit, coded, a part, a 304, a HEAD', async (t) => {
    const { origin, get } = await startCodedEdge(t, reply(TEXT, HTML), SITE);
    const range = ['Range', 'bytes=0-9'];
    for (const path of ['/', '/']) {
      for (const acceptEncoding of ['identity', 'gzip']) {
        assertKept(await get(path, acceptEncoding), 'whole');
        assertKept(await get(path, acceptEncoding, { method: 'HEAD' }), 'head');
        const part = await get(path, acceptEncoding, { headers: range });
        assert.equal(part.status, 206);
        assertKept(part, 'part');
        const same = await get(path, acceptEncoding, { headers: ['If-None-Match', '"1"'] });
        assert.equal(same.status, 304);
        assertKept(same, 'same');
      }
    }
    assert.equal(origin.requests.length, 1);
    origin.answer(reply('', { location: '/', 'cache-control': 'max-age=5' }, 301));
    for (const cache of ['MISS', 'HIT']) {
      const moved = await get('/moved');
      assert.deepEqual([moved.status, moved.headers['x-cache']], [301, cache]);
      assertKept(moved, 'moved');
    }
  });

  test('expires is on answers that share a fetch, and on answers past the cache', async (t) => {
    const held: ServerResponse[] = [];
    const { get } = await startCodedEdge(
      t,
      (_request, response) => {
        response.writeHead(200, { ...HTML, 'content-length': '400000' });
        response.flushHeaders();
        held.push(response);
      },
      SITE,
    );
    const all = [get('/', 'identity'), get('/', 'identity'), get('/', 'br'), get('/a/../b', 'br')];
    await eventually('asked', () => held.length === 2);
    for (const response of held) response.end(someText(400_000));
    for (const read of await Promise.all(all)) assertKept(read, read.headers['x-cache'] ?? '');
  });

  test('expires says nothing about how long the edge keeps the page', async (t) => {
    const { edge, get, origin } = await startCodedEdge(t, reply(TEXT, HTML), SITE);
    await get('/');
    edge.advance(61_000);
    const again = await get('/');
    assert.deepEqual([again.headers['x-cache'], origin.requests.length], ['MISS', 2]);
  });

  test('expires is not on uncacheable answers of the origin, on errors, or on pages of the edge', async (t) => {
    const { origin, edge, get } = await startCodedEdge(t, reply(TEXT, HTML), SITE);
    for (const control of ['no-store', 'private, max-age=5', 'no-cache']) {
      origin.answer(reply(TEXT, { ...HTML, 'cache-control': control }));
      for (const _ of ['first', 'again']) {
        const { headers } = await get(`/${encodeURIComponent(control)}`, 'gzip');
        assert.deepEqual([headers['cache-control'], headers['expires']], [control, '0']);
      }
    }
    origin.answer(reply('none', { 'cache-control': 'max-age=5' }, 404));
    assert.equal((await get('/none')).headers['cache-control'], 'max-age=5');
    await origin.stop();
    const failed = await get('/failed');
    assert.deepEqual([failed.status, failed.headers['cache-control']], [502, 'no-store']);
    edge.put({ name: SITE_HOST, state: 'closed' });
    const refused = await get('/');
    assert.deepEqual([refused.status, refused.headers['cache-control']], [403, 'no-store']);
  });

  test("an expires of nothing leaves the origin's fields unchanged", async (t) => {
    const { get } = await startCodedEdge(t, reply(TEXT, HTML), { expiresSeconds: 0 });
    for (const age of [/^none$/, /^\d$/]) {
      const { headers } = await get('/');
      assert.deepEqual([headers['cache-control'], headers['expires']], ['public, max-age=60', '0']);
      assert.match(headers['age'] ?? 'none', age);
    }
  });
});

describe("a preflight's validity", () => {
  const PREFLIGHT = ['Origin', 'https://a.example', 'Access-Control-Request-Method', 'PUT'];

  test('the validity of a preflight is set only if the preflight succeeded', async (t) => {
    const allow = { 'access-control-allow-origin': '*', 'access-control-max-age': '5' };
    const { origin, get } = await startCodedEdge(t, reply('', allow, 204), SITE);
    const ask = async (method: string, headers: readonly string[]) => {
      const read = await get('/', undefined, { method, headers });
      return read.headers['access-control-max-age'];
    };
    assert.equal(await ask('OPTIONS', PREFLIGHT), '600');
    assert.equal(await ask('OPTIONS', PREFLIGHT.slice(0, 2)), '5');
    assert.equal(await ask('GET', PREFLIGHT), '5');
    origin.answer(reply('', {}, 200));
    assert.equal(await ask('OPTIONS', PREFLIGHT), '600');
    origin.answer(reply('no', allow, 403));
    assert.equal(await ask('OPTIONS', PREFLIGHT), '5');
  });
});
