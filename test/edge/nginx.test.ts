/** The edge before a real web server: what nginx says of its files is understood, and what reaches it is what it likes. */
import assert from 'node:assert/strict';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startTestEdge } from '../support/edge/edge.ts';
import { eventually } from '../support/eventually.ts';
import { startNginx } from '../support/nginx.ts';
import { needs } from '../support/runner/needs.ts';

describe('nginx as origin', needs('nginx'), () => {
  test('files of nginx with a lifetime: MISS, HIT, and after it a 304 that renews', async (t) => {
    const nginx = await startNginx(t, { server: 'expires 1m;' });
    writeFileSync(join(nginx.root, 'a.css'), 'body { color: red }');
    const edge = await startTestEdge(t, [nginx.port]);
    const marks: (string | undefined)[] = [];
    for (const aheadMs of [0, 0, 120_000]) {
      edge.advance(aheadMs);
      const received = await edge.get('/a.css');
      assert.deepEqual(
        [received.status, received.body, received.headers['content-type']],
        [200, 'body { color: red }', 'text/css'],
      );
      marks.push(received.headers['x-cache']);
    }
    assert.deepEqual(marks, ['MISS', 'HIT', 'REVALIDATED']);
    await eventually('logged', () => nginx.logLines().length === 2); // it writes a line after the answer
    assert.deepEqual(nginx.logLines(), ['GET /a.css www.example.com 200', 'GET /a.css www.example.com 304']);
  });

  test('compressed variants of nginx are confirmed by a 304, though its tag is the strong one of the file', async (t) => {
    const nginx = await startNginx(t, {
      server: 'expires 1m; gzip on; gzip_vary on; gzip_proxied any; gzip_min_length 1; gzip_types text/css;',
    });
    writeFileSync(join(nginx.root, 'a.css'), 'body { color: red }'.repeat(50));
    const edge = await startTestEdge(t, [nginx.port]);
    const gzip = { headers: ['Accept-Encoding', 'gzip'] };
    const first = await edge.get('/a.css', gzip);
    assert.deepEqual([first.headers['content-encoding'], first.headers['etag']?.startsWith('W/')], ['gzip', true]);
    for (const [request, mark] of [
      [gzip, 'REVALIDATED'],
      [gzip, 'REVALIDATED'],
      [{}, 'MISS'],
    ] as const) {
      if (mark === 'REVALIDATED') edge.advance(120_000);
      const received = await edge.get('/a.css', request);
      const isCoded = received.headers['content-encoding'] === 'gzip';
      assert.deepEqual([received.headers['x-cache'], isCoded], [mark, request === gzip]);
      if (isCoded) assert.equal(received.headers['etag'], first.headers['etag']);
    }
    await eventually('logged', () => nginx.logLines().length >= 4);
    const statuses = nginx.logLines().map((line) => line.slice(-3));
    assert.deepEqual(statuses.slice(0, 3), ['200', '304', '304'], 'an expiry costs one request');
  });

  test('files of nginx without a lifetime get a tenth of their age, and a change is seen after it', async (t) => {
    const nginx = await startNginx(t);
    const file = join(nginx.root, 'a.html');
    writeFileSync(file, 'old');
    utimesSync(file, new Date(Date.now() - 1_000_000), new Date(Date.now() - 1_000_000));
    const edge = await startTestEdge(t, [nginx.port]);
    await edge.get('/a.html');
    writeFileSync(file, 'new');
    edge.advance(50_000);
    assert.equal((await edge.get('/a.html')).body, 'old');
    edge.advance(60_000);
    assert.deepEqual([(await edge.get('/a.html')).body], ['new']);
  });

  test('ranges, HEAD and conditions agree with nginx, stored or not', async (t) => {
    const nginx = await startNginx(t, { server: 'expires 1m;' });
    writeFileSync(join(nginx.root, 'a.jpg'), '0123456789');
    const edge = await startTestEdge(t, [nginx.port]);
    const requests = [
      { headers: ['Range', 'bytes=2-4'] },
      { headers: ['Range', 'bytes=-2'] },
      { headers: ['Range', 'bytes=20-'] },
      { method: 'HEAD' },
      { headers: ['If-Modified-Since', new Date(Date.now() + 1_000).toUTCString()] },
    ];
    const ask = async () => {
      const all: unknown[] = [];
      for (const request of requests) {
        const { status, body, headers } = await edge.get('/a.jpg', request);
        all.push([
          status,
          status === 416 ? '' : body,
          headers['content-range'],
          status === 416 ? '' : headers['content-length'],
        ]);
      }
      return all;
    };
    const fromNginx = await ask();
    assert.equal((await edge.get('/a.jpg')).body, '0123456789');
    assert.deepEqual(await ask(), fromNginx);
  });

  test('uploads reach nginx whole', async (t) => {
    const nginx = await startNginx(t, {
      server: 'location /up { client_max_body_size 10m; return 204; }',
      logFormat: '$request_method $content_length $status',
    });
    const edge = await startTestEdge(t, [nginx.port]);
    assert.equal((await edge.get('/up', { method: 'POST', body: 'x'.repeat(1_000_000) })).status, 204);
    await eventually('logged', () => nginx.logLines().join() === 'POST 1000000 204');
  });
});
