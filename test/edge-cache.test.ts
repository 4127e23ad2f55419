/** The cache as viewers see it: a real edge between a real client and a scripted origin. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loopback, NO_ORIGINS, SITE_HOST, startTestEdge } from './support/edge.ts';
import { reply, startOrigin } from './support/origin.ts';

const FRESH = { 'cache-control': 'max-age=60' };

describe('hits and misses', () => {
  test('the first request is a MISS, the second a HIT with Age, and the origin is asked once', async (t) => {
    const origin = await startOrigin(t, reply('hello', { ...FRESH, 'content-type': 'text/plain', etag: '"1"' }));
    const edge = await startTestEdge(t, [origin.port]);
    const miss = await edge.get('/a?b=1');
    edge.advance(5_000);
    const hit = await edge.get('/a?b=1');
    assert.deepEqual(
      [miss.status, miss.body, miss.headers['x-cache'], miss.headers['age']],
      [200, 'hello', 'MISS', undefined],
    );
    assert.deepEqual([hit.status, hit.body, hit.headers['x-cache']], [200, 'hello', 'HIT']);
    assert.match(hit.headers['age'] ?? '', /^[56]$/);
    assert.equal(hit.headers['via'], '1.1 causeway');
    assert.equal(hit.headers['content-type'], 'text/plain');
    assert.equal(origin.requests.length, 1);
    assert.equal(origin.requests[0]?.target, '/a?b=1');
  });

  test('after a change of the origin the next miss goes to the new one, and what is stored still serves', async (t) => {
    const old = await startOrigin(t, reply('old', FRESH));
    const next = await startOrigin(t, reply('new', FRESH));
    const edge = await startTestEdge(t, [old.port]);
    await edge.get('/stored');
    edge.put({ name: SITE_HOST, origins: { ...NO_ORIGINS, primary: loopback([next.port]) } });
    assert.equal((await edge.get('/stored')).body, 'old');
    assert.equal((await edge.get('/other')).body, 'new');
    assert.deepEqual([old.requests.length, next.requests.length], [1, 1]);
  });
});
