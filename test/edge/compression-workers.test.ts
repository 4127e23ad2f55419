/** Coded forms on a disk that workers share, and after a prefetch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { someText, startCodedEdge } from '../support/edge/coded.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { reply } from '../support/edge/origin.ts';
import { sharedStores } from '../support/edge/shared-store.ts';
import { eventually } from '../support/eventually.ts';

const HTML = { 'content-type': 'text/html', 'cache-control': 'max-age=60', etag: '"1"', vary: 'Accept-Encoding' };
const MIB = 2 ** 20;

for (const [what, memoryBytes, bodyBytes] of [
  ['small, with memory', 16 * MIB, 5_000],
  ['large, with memory', 16 * MIB, 6 * MIB],
  ['small, with none', 0, 5_000],
  ['large, with none', 0, 6 * MIB],
] as const) {
  test(`a page that one worker has compressed is served by the other, and after a restart: ${what}`, async (t) => {
    const openStore = sharedStores(t, memoryBytes);
    const body = someText(bodyBytes);
    const start = async () => {
      const store = openStore();
      return { ...(await startCodedEdge(t, reply(body, HTML), {}, { store })), store };
    };
    const untilStored = (worker: Awaited<ReturnType<typeof start>>) =>
      eventually('stored', async () => {
        const read = await worker.get('/', 'zstd');
        return read.headers['content-length'] !== undefined && read;
      });
    const [first, second] = [await start(), await start()];
    await first.get('/');
    assert.ok((await untilStored(first)).text === body);
    await eventually('on disk', async () => {
      const [page, form] = [
        await second.store.find(`1  ${SITE_HOST} /`),
        await second.store.find(`1  ${SITE_HOST} /\nzstd`),
      ];
      return page !== undefined && form !== undefined;
    });
    const other = await second.get('/', 'zstd');
    assert.deepEqual([other.headers['x-cache'], other.coding, other.text === body], ['HIT', 'zstd', true]);
    assert.notEqual(other.headers['content-length'], undefined);
    for (const { store } of [first, second]) await store[Symbol.asyncDispose]();
    const third = await start();
    assert.ok((await untilStored(third)).text === body);
    assert.deepEqual([await first.made(), await second.made(), await third.made()], [1, 0, 0]);
    assert.deepEqual([second.origin.requests.length, third.origin.requests.length], [0, 0]);
  });
}

test('a prefetched page serves all codings', async (t) => {
  const body = someText(5_000);
  const { edge, origin, get } = await startCodedEdge(t, reply(body, HTML));
  const outcome = await edge.edge.prefetch({ host: SITE_HOST, target: '/', scheme: 'http' });
  assert.equal(outcome.kind, 'stored');
  for (const acceptEncoding of [undefined, 'br', 'gzip']) {
    const read = await get('/', acceptEncoding);
    assert.deepEqual([read.headers['x-cache'], read.text], ['HIT', body]);
  }
  assert.deepEqual(
    origin.requests.map(({ headers }) => headers['accept-encoding']),
    ['identity'],
  );
});
