/** The name of an installation: origins and clients see it, its own requests are refused, and those of others pass. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cdnIdOf } from '../../src/edge/origin-headers.ts';
import { startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';

const ID = 'causeway-1f2e3d4c';

test('an edge refuses what has been at an edge of its own installation, and no other', async (t) => {
  const origin = await startOrigin(t, reply('reached', { 'cache-control': 'no-store' }));
  const edge = await startTestEdge(t, [origin.port], { cdn: { id: cdnIdOf('1f2e3d4c') } });
  const rows: readonly (readonly [headers: readonly string[], status: number, loop: string, via: string])[] = [
    [[], 200, ID, `1.1 ${ID}`],
    [['CDN-Loop', 'causeway-0a0b0c0d'], 200, `causeway-0a0b0c0d, ${ID}`, `1.1 ${ID}`],
    [['CDN-Loop', 'causeway', 'Via', '1.1 causeway'], 200, `causeway, ${ID}`, `1.1 causeway, 1.1 ${ID}`],
    [['Via', `1.1 ${ID}`], 200, ID, `1.1 ${ID}, 1.1 ${ID}`],
    [['CDN-Loop', `other, ${ID};v=1`], 508, '', ''],
  ];
  for (const [headers, status, loop, via] of rows) {
    origin.requests.length = 0;
    const answer = await edge.get('/', { headers });
    assert.deepEqual([answer.status, answer.headers['via']], [status, `1.1 ${ID}`], headers.join());
    const seen = origin.requests.map((request) => [request.headers['cdn-loop'], request.headers['via']]);
    assert.deepEqual(seen, status === 200 ? [[loop, via]] : [], headers.join());
  }
});

test('an edge behind an edge of another installation serves', async (t) => {
  const origin = await startOrigin(t, reply('of the origin'));
  const inner = await startTestEdge(t, [origin.port], { cdn: { id: cdnIdOf('00000001') } });
  const outer = await startTestEdge(t, [inner.port], { cdn: { id: cdnIdOf('00000002') } });
  const { status, body } = await outer.get('/');
  assert.deepEqual([status, body], [200, 'of the origin']);
});

test('the name of an installation may come later, and holds from the next request on', async (t) => {
  const origin = await startOrigin(t, reply('a', { 'cache-control': 'max-age=60' }));
  const cdn = { id: cdnIdOf(undefined) };
  const edge = await startTestEdge(t, [origin.port], { cdn });
  assert.equal((await edge.get('/')).headers['via'], '1.1 causeway');
  cdn.id = ID;
  assert.equal((await edge.get('/', { headers: ['Cookie', 'a=b'] })).headers['via'], `1.1 ${ID}`);
  assert.equal((await edge.get('/', { headers: ['CDN-Loop', ID] })).status, 508);
});
