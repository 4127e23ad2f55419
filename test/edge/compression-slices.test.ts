/** Compression together with what is fetched or kept in parts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { someText, startCodedEdge } from '../support/edge/coded.ts';
import { SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { MIB, serveObject, startSliceableOrigin } from '../support/edge/sliceable.ts';
import { eventually } from '../support/eventually.ts';

const HEADERS = { 'cache-control': 'max-age=60', 'content-type': 'application/json' };
const BODY = someText(3 * MIB + 100);
const OBJECT = { bytes: Buffer.from(BODY, 'latin1'), etag: '"one"', headers: HEADERS };

describe('an object in slices', () => {
  test('an object in slices is compressed whole, once, and its ranges are of the uncompressed bytes', async (t) => {
    const { get, made, origin } = await startCodedEdge(
      t,
      (request, response) => serveObject(request, response, OBJECT),
      { rangeBackSource: true },
      { cacheBytes: 128 * MIB },
    );
    const part = await get('/', 'gzip', { headers: ['Range', 'bytes=10-19'] });
    assert.deepEqual(
      [part.status, part.body, part.coding, part.headers['vary']],
      [206, BODY.slice(10, 20), undefined, 'Accept-Encoding'],
    );
    const all = await Promise.all([1, 2, 3, 4].map(() => get('/', 'gzip')));
    for (const read of all)
      assert.deepEqual([read.coding, read.text === BODY, read.headers['etag']], ['gzip', true, 'W/"one"']);
    const stored = await eventually('stored', async () => {
      const read = await get('/', 'gzip');
      return read.headers['content-length'] !== undefined && read;
    });
    assert.ok(stored.text === BODY);
    assert.deepEqual([await made(), origin.requests.length], [1, 4]);
    assert.ok((await get('/', 'identity')).text === BODY);
  });

  test('an object in slices that loses a slice on the way breaks off for its client', async (t) => {
    const origin = await startSliceableOrigin(t, OBJECT);
    const edge = await startTestEdge(t, [origin.port], { cacheBytes: 128 * MIB });
    edge.put({ name: SITE_HOST, pageCompress: true, rangeBackSource: true });
    const breaks = ({ headers }: { readonly headers: Readonly<Record<string, string>> }) =>
      headers['range']?.startsWith(`bytes=${2 * MIB}-`) === true;
    origin.fail((request, response) => {
      if (breaks(request)) response.destroy();
      return breaks(request);
    });
    const read = await edge.get('/', { headers: ['Accept-Encoding', 'br'] });
    assert.ok(read.status === 502 || !read.isWhole);
    origin.fail(undefined);
    const again = await edge.get('/', { headers: ['Accept-Encoding', 'identity'] });
    assert.ok(again.isWhole && again.body === BODY);
  });
});

describe('on a cold cache', () => {
  test('a range and a HEAD on a cold cache describe what the whole response would', async (t) => {
    const { get } = await startCodedEdge(t, (request, response) => serveObject(request, response, OBJECT));
    const part = await get('/part', 'gzip', { headers: ['Range', 'bytes=10-19'] });
    assert.deepEqual(
      [part.status, part.body, part.coding, part.headers['vary'], part.headers['etag']],
      [206, BODY.slice(10, 20), undefined, 'Accept-Encoding', '"one"'],
    );
    const head = await get('/head', 'gzip', { method: 'HEAD' });
    assert.deepEqual(
      [head.status, head.coding, head.headers['vary'], head.headers['etag'], head.headers['content-length']],
      [200, 'gzip', 'Accept-Encoding', 'W/"one"', undefined],
    );
    const whole = await get('/part', 'gzip'); // the part is its beginning, or not
    assert.deepEqual([whole.coding, whole.text === BODY], ['gzip', true]);
  });

  test('the rest of an object that has begun is fetched, and the whole compressed', async (t) => {
    const { get, origin } = await startCodedEdge(
      t,
      (request, response) => serveObject(request, response, OBJECT),
      {},
      { cacheBytes: 128 * MIB },
    );
    await get('/', 'gzip', { headers: ['Range', `bytes=0-${MIB - 1}`] });
    const whole = await get('/', 'gzip');
    assert.deepEqual([whole.coding, whole.text === BODY], ['gzip', true]);
    assert.equal(origin.requests[1]?.headers['range'], `bytes=${MIB}-`);
  });
});
