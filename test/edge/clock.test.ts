/** A clock that is set back, as time servers and virtual machines do it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestEdge } from '../support/edge.ts';
import { reply, startOrigin } from '../support/origin.ts';

const HOUR_MS = 3_600_000;

test('an object with a storing time in the future is fetched anew, and is a hit again', async (t) => {
  let count = 0;
  const origin = await startOrigin(t, (request, response) =>
    reply(`${++count}`, { 'cache-control': 'max-age=60' })(request, response),
  );
  const edge = await startTestEdge(t, [origin.port]);
  edge.advance(HOUR_MS);
  assert.equal((await edge.get('/')).body, '1');
  edge.advance(-HOUR_MS);
  const renewed = await edge.get('/');
  assert.deepEqual([renewed.body, renewed.headers['x-cache']], ['2', 'MISS']);
  const hit = await edge.get('/');
  assert.deepEqual([hit.body, hit.headers['x-cache']], ['2', 'HIT']);
  edge.advance(61_000);
  assert.equal((await edge.get('/')).body, '3');
});

test('a purge covers objects with a storing time in the future', async (t) => {
  let count = 0;
  const origin = await startOrigin(t, (request, response) =>
    reply(`${++count}`, { 'cache-control': 'max-age=60', etag: '"1"' })(request, response),
  );
  const edge = await startTestEdge(t, [origin.port]);
  edge.advance(HOUR_MS);
  await edge.get('/');
  edge.advance(-HOUR_MS);
  edge.purge({ kind: 'site', target: '' });
  assert.equal((await edge.get('/')).body, '2');
  assert.equal(origin.requests[1]?.headers['if-none-match'], undefined);
});

test('a clock step of less than a second is not noticed', async (t) => {
  const origin = await startOrigin(t, reply('x', { 'cache-control': 'max-age=60' }));
  const edge = await startTestEdge(t, [origin.port]);
  await edge.get('/');
  edge.advance(-500);
  assert.equal((await edge.get('/')).headers['x-cache'], 'HIT');
});
