/** Redirects between two real web servers: one has the links, the other has the files. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { loopback, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { eventually } from '../support/eventually.ts';
import { type Nginx, startNginx } from '../support/nginx.ts';
import { needs } from '../support/runner/needs.ts';

const MIB = 2 ** 20;

describe('nginx that redirects to another nginx', needs('nginx'), () => {
  test('a redirected file is stored, renewed by a 304 of its server, and fetched anew after a change', async (t) => {
    const { edge, links, files } = await startPair(t);
    const file = join(files.root, 'a.css');
    writeFileSync(file, 'body { color: red }');
    const marks: (string | undefined)[] = [];
    for (const aheadMs of [0, 0, 120_000]) {
      edge.advance(aheadMs);
      const received = await edge.get('/a.css', { headers: ['Cookie', 'id=1'] });
      assert.deepEqual(
        [received.status, received.body, received.headers['location']],
        [200, 'body { color: red }', undefined],
      );
      marks.push(received.headers['x-cache']);
    }
    assert.deepEqual(marks, ['MISS', 'HIT', 'REVALIDATED']);
    await eventually('logged', () => files.logLines().length === 2 && links.logLines().length === 2); // after the answers
    const asked = `GET /a.css files.example:${files.port}`;
    assert.deepEqual(
      files.logLines(),
      [`${asked} -`, `${asked} -`].map((line, i) => `${line} ${i === 0 ? 200 : 304}`),
    );
    assert.deepEqual(links.logLines(), Array(2).fill(`GET /a.css ${SITE_HOST} id=1 302`));
    writeFileSync(file, 'body { color: green }');
    edge.advance(240_000);
    assert.equal((await edge.get('/a.css')).body, 'body { color: green }');
  });

  test('a large redirected file is fetched in slices, each of which follows the redirect', async (t) => {
    const { edge, files } = await startPair(t, true);
    const body = Buffer.alloc(3 * MIB + 17, 'slices are aligned, ');
    writeFileSync(join(files.root, 'large.bin'), body);
    const range = { headers: ['Range', `bytes=${MIB - 5}-${2 * MIB + 5}`] };
    for (const mark of ['MISS', 'HIT']) {
      const part = await edge.get('/large.bin', range);
      assert.deepEqual([part.status, part.headers['x-cache']], [206, mark]);
      assert.equal(part.body, body.subarray(MIB - 5, 2 * MIB + 6).toString('latin1'));
    }
    assert.equal((await edge.get('/large.bin')).body, body.toString('latin1'));
  });
});

async function startPair(t: { after(work: () => unknown): void }, rangeBackSource = false) {
  const logFormat = '$request_method $request_uri $http_host $http_cookie $status';
  const files = await startNginx(t, { server: 'expires 1m;', logFormat });
  const server = `location ~ [.] { return 302 http://files.example:${files.port}$request_uri; }`;
  const links: Nginx = await startNginx(t, { server, logFormat });
  const edge = await startTestEdge(t, [], { resolve: async () => ['127.0.0.1'] });
  const origins = { ...NO_ORIGINS, primary: loopback([links.port]) };
  edge.put({ name: SITE_HOST, redirectFollow: true, rangeBackSource, origins });
  return { edge, links, files };
}
