/** Redirects that a site has followed: what is asked where, what the client gets, and what it is stored as. Edge rule 7 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connectRaw, loopback, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { type Answer, FRESH, reply, startOrigin, startRawOrigin } from '../support/edge/origin.ts';
import { ELSEWHERE, follow, redirect, startPair } from '../support/edge/redirects.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

describe('a redirect that is followed', () => {
  test('a redirect to another host is followed by a GET under its name, and the object is stored under the first address', async (t) => {
    const { edge, origin, target } = await startPair(t, reply('object', { ...FRESH, etag: '"1"', 'x-from': 'target' }));
    const received = await edge.get('/a');
    assert.deepEqual([received.status, received.body, received.headers['x-from']], [200, 'object', 'target']);
    assert.equal(received.headers['location'], undefined);
    assert.deepEqual(
      [target.requests[0]?.target, target.requests[0]?.headers['host']],
      ['/b?c', `${ELSEWHERE}:${target.port}`],
    );
    assert.equal((await edge.get('/a')).headers['x-cache'], 'HIT');
    assert.deepEqual([origin.requests.length, target.requests.length], [1, 1]);
    assert.equal(edge.log[0]?.result, 'TCP_MISS/200');
  });

  test('a followed redirect carries nothing of the client off the site', async (t) => {
    const { edge, origin, target } = await startPair(t, reply('object'));
    const secrets = ['Cookie', 'Authorization', 'Referer', 'X-Api-Key', 'X-Forwarded-For', 'X-Real-IP', 'Forwarded'];
    const headers = [
      ...secrets.flatMap((name) => [name, 'secret']),
      ...['Accept', 'text/html', 'Accept-Language', 'de', 'User-Agent', 'agent', 'Origin', 'https://page.example'],
    ];
    assert.equal((await edge.get('/a', { headers })).body, 'object');
    const names = Object.keys(target.requests[0]?.headers ?? {}).filter((name) => name !== 'connection');
    assert.deepEqual(names.sort(), ['accept', 'accept-language', 'cdn-loop', 'host', 'origin', 'user-agent', 'via']);
    assert.ok(!JSON.stringify(target.requests[0]).includes('127.0.0.1'));
    assert.equal(origin.requests[0]?.headers['cookie'], 'secret'); // the site's own origin has them
  });

  test("fields of the target for its own clients are not sent in the site's name, and do not prevent storing", async (t) => {
    const own = {
      'set-cookie': 'id=1',
      'strict-transport-security': 'max-age=1',
      'clear-site-data': '"*"',
      'alt-svc': 'clear',
    };
    const { edge } = await startPair(t, reply('object', { ...FRESH, ...own, 'x-from': 'target' }));
    const { headers } = await edge.get('/a');
    for (const name of Object.keys(own)) assert.equal(headers[name], undefined, name);
    assert.equal(headers['x-from'], 'target');
    assert.equal((await edge.get('/a')).headers['x-cache'], 'HIT');
  });

  test('a redirect to the site itself is sent to its own origins, by turn and failover, under its own Host', async (t) => {
    const dead = await freePort();
    const answer: Answer = (request, response) => {
      if (request.target === '/a') return redirect(`http://${SITE_HOST}/b`)(request, response);
      reply(`${request.target} ${request.headers['host']} ${request.headers['cookie']}`, FRESH)(request, response);
    };
    const origin = await startOrigin(t, answer);
    const edge = await startTestEdge(t, [origin.port, dead]);
    follow(edge, loopback([origin.port, dead]), 'source.example');
    const received = await edge.get('/a', { headers: ['Cookie', 'c'] });
    assert.deepEqual([received.status, received.body], [200, '/b source.example c']);
    origin.answer(redirect('c'));
    assert.equal((await edge.get('/d/x')).status, 302); // /d/c leads to itself
    assert.equal(origin.requests.at(-1)?.target, '/d/c');
  });

  test('a HEAD follows redirects too; a range gets its part of the target', async (t) => {
    const { edge, target } = await startPair(t, (request, response) => {
      if (request.headers['range'] === undefined) return reply('object', FRESH)(request, response);
      reply('bj', { ...FRESH, 'content-range': 'bytes 1-2/6' }, 206)(request, response);
    });
    const head = await edge.get('/a', { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers['content-length'], target.requests[0]?.method], [200, '6', 'HEAD']);
    const part = await edge.get('/a', { headers: ['Range', 'bytes=1-2'] });
    assert.deepEqual([part.status, part.body, target.requests[1]?.headers['range']], [206, 'bj', 'bytes=1-2']);
  });

  test('a redirect is followed past the cache, too', async (t) => {
    const { edge } = await startPair(t, reply('object', FRESH));
    const received = await edge.get('/a', { headers: ['If-Match', '"1"'] });
    assert.deepEqual([received.status, received.headers['x-cache']], [200, 'BYPASS precondition']);
  });

  test('an error of the target is the answer', async (t) => {
    const { edge } = await startPair(t, reply('gone', {}, 404));
    assert.deepEqual([(await edge.get('/a')).status, (await edge.get('/a')).body], [404, 'gone']);
  });

  test('connections to both servers are kept open', async (t) => {
    const { edge, origin, target } = await startPair(t, reply('object'));
    for (let i = 0; i < 5; i++) assert.equal((await edge.get('/a')).status, 200);
    assert.deepEqual([origin.connections(), target.connections()], [1, 1]);
  });

  test('a crowd of redirects does not hold the connections that it needs itself', async (t) => {
    const { edge, origin } = await startSite(
      t,
      (request, response) => {
        (request.target.startsWith('/b') ? reply('object') : redirect(`/b${request.target}`))(request, response);
      },
      { limits: { maxOriginConnections: 2, originWaitMs: 20_000 } },
    );
    follow(edge, loopback([origin.port]));
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => edge.get(`/${i}`)));
    assert.ok(all.every(({ status }) => status === 200));
  });
});

describe('a validation through a redirect', () => {
  test('a 304 at the end of the chain renews the stored object; a date is sent to the first address only', async (t) => {
    const validators = { etag: '"1"', 'last-modified': 'Mon, 02 Nov 2026 00:00:00 GMT' };
    const { edge, origin, target } = await startPair(t, reply('object', { ...FRESH, ...validators }));
    await edge.get('/a');
    edge.advance(70_000);
    target.answer((_request, response) =>
      response.writeHead(304, { 'cache-control': 'max-age=600', etag: '"1"' }).end(),
    );
    const received = await edge.get('/a');
    assert.deepEqual([received.headers['x-cache'], received.body], ['REVALIDATED', 'object']);
    const [first, last] = [origin.requests.at(-1), target.requests.at(-1)];
    assert.deepEqual([first?.headers['if-none-match'], last?.headers['if-none-match']], ['"1"', '"1"']);
    assert.ok(first?.headers['if-modified-since'] !== undefined);
    assert.equal(last?.headers['if-modified-since'], undefined);
    assert.equal((await edge.get('/a')).headers['x-cache'], 'HIT');
  });

  test('a changed target replaces the stored object', async (t) => {
    const { edge, target } = await startPair(t, reply('old', { ...FRESH, etag: '"1"' }));
    await edge.get('/a');
    edge.advance(70_000);
    target.answer(reply('new', { 'cache-control': 'max-age=600', etag: '"2"' }));
    assert.equal((await edge.get('/a')).body, 'new');
    assert.equal((await edge.get('/a')).headers['x-cache'], 'HIT');
  });

  test('the stale copy serves while the target is away, and the redirect only if there is none', async (t) => {
    const { edge, target } = await startPair(t, reply('object', { ...FRESH, etag: '"1"' }), {
      'cache-control': 'max-age=600',
    });
    await edge.get('/a');
    edge.advance(70_000);
    await target.stop();
    const stale = await edge.get('/a');
    assert.deepEqual([stale.status, stale.body, stale.headers['x-cache']], [200, 'object', 'STALE']);
    // Not stored, although its own fields would allow it: the target will be back.
    const other = await edge.get('/other');
    assert.deepEqual([other.status, other.headers['x-cache']], [302, 'MISS redirectTarget']);
    assert.match(other.headers['location'] ?? '', /^http:\/\/elsewhere\.example:/);
    assert.match(await edge.registry.metrics(), /causeway_edge_redirects_total{outcome="failed"} 2/);
  });

  test('a purge between the redirect and its target keeps both out', async (t) => {
    const { edge, target } = await startPair(t, reply('object', FRESH));
    target.answer((request, response) => {
      edge.purge({ kind: 'url', target: `${SITE_HOST}/a` });
      edge.advance(1);
      reply('object', FRESH)(request, response);
    });
    await edge.get('/a');
    assert.equal((await edge.get('/a')).headers['x-cache'], 'MISS invalidated');
  });
});

describe('a redirect that is passed on', () => {
  test('a redirect is passed on unchanged if the site does not have redirects followed; Location is not rewritten', async (t) => {
    const { edge, origin, target } = await startPair(t, reply('object'));
    edge.put({ name: SITE_HOST, redirectFollow: false });
    const received = await edge.get('/a');
    assert.deepEqual([received.status, received.body], [302, 'moved']);
    assert.equal(received.headers['location'], `http://${ELSEWHERE}:${target.port}/b?c`);
    assert.deepEqual([origin.requests.length, target.requests.length], [1, 0]);
  });

  test('303, 307 and 308 are passed on, and redirects of a POST', async (t) => {
    const { edge, origin, target } = await startPair(t, reply('object'));
    const location = `http://${ELSEWHERE}:${target.port}/b`; // which answers, if it is asked
    for (const status of [300, 303, 307, 308]) {
      origin.answer(redirect(location, status));
      assert.equal((await edge.get(`/${status}`)).status, status);
    }
    origin.answer(redirect(location));
    assert.equal((await edge.get('/a', { method: 'POST', body: 'x' })).status, 302);
    assert.equal((await edge.get('/a', { method: 'OPTIONS' })).status, 302);
    assert.equal(target.requests.length, 0);
  });

  test('the fourth redirect is passed on, and one that returns to an earlier address', async (t) => {
    const { edge, origin } = await startPair(t, reply('object'));
    origin.answer((request, response) => redirect(`${request.target}a`)(request, response));
    const fourth = await edge.get('/');
    assert.deepEqual([fourth.status, fourth.headers['location'], origin.requests.length], [302, '/aaaa', 4]);
    origin.answer((request, response) => redirect(request.target === '/x' ? '/y' : '/x')(request, response));
    const loop = await edge.get('/x');
    assert.deepEqual([loop.status, loop.headers['location'], origin.requests.length], [302, '/x', 6]);
    const metrics = await edge.registry.metrics();
    assert.match(metrics, /causeway_edge_redirects_total{outcome="limit"} 1/);
    assert.match(metrics, /causeway_edge_redirects_total{outcome="loop"} 1/);
  });

  test('a loop between two hosts is walked once', async (t) => {
    const { edge, origin, target } = await startPair(t, reply('object'));
    target.answer(redirect(`http://127.0.0.1:${origin.port}/a`));
    assert.equal((await edge.get('/a')).status, 302);
    assert.deepEqual([origin.requests.length, target.requests.length], [1, 1]);
  });

  test('a redirect with a large body is passed on whole, with a Content-Length or without', async (t) => {
    const { edge, origin, target } = await startPair(t, reply('object'));
    const body = 'x'.repeat(200_000);
    const headers = { location: `http://${ELSEWHERE}:${target.port}/` };
    for (const framing of [{ 'content-length': '200000' }, {}]) {
      origin.answer((_request, response) => response.writeHead(302, { ...headers, ...framing }).end(body));
      const received = await edge.get('/a');
      assert.deepEqual([received.status, received.body === body, received.isWhole], [302, true, true]);
    }
    assert.equal(target.requests.length, 0);
  });

  test('a redirect whose body breaks off is a failure', async (t) => {
    const origin = await startRawOrigin(t, (socket) => {
      socket.end('HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 10\r\n\r\nabc');
    });
    const edge = await startTestEdge(t, [origin.port]);
    follow(edge, loopback([origin.port]));
    const received = await edge.get('/a');
    assert.deepEqual([received.status, received.headers['x-cache']], [502, 'ERROR originCut']);
  });

  test('a redirect whose body does not end is a failure', async (t) => {
    const origin = await startRawOrigin(t, (socket) => {
      socket.write('HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 10\r\n\r\nabc');
    });
    const edge = await startTestEdge(t, [origin.port]);
    follow(edge, loopback([origin.port]));
    assert.equal((await edge.get('/a')).headers['x-cache'], 'ERROR originCut');
  });

  test('a client that leaves while the target is silent ends the request to it', async (t) => {
    const { edge, target } = await startPair(t, () => undefined);
    const client = connectRaw(edge.port, `GET /a HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`);
    await eventually('at the target', () => target.requests.length === 1);
    client.socket.destroy();
    await eventually('logged', () => edge.log[0]?.result?.endsWith('/499') === true);
  });
});
