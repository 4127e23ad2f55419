/** Origins that are down, slow, broken or hostile: each has its reason, and the worker serves the next request. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { createGuard } from '../../src/edge/origin/guard.ts';
import { connectRaw, SITE_HOST, startTestEdge, type TestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin, startRawOrigin } from '../support/edge/origin.ts';
import { startSite } from '../support/edge/site.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

const LIMITS = { connectMs: 300, firstByteMs: 300, originIdleMs: 300 };

describe('a broken origin', () => {
  type Row = readonly [what: string, respond: (socket: Socket) => void, status: number, reason: string];
  const head = 'HTTP/1.1 200 OK\r\n';
  const rows: readonly Row[] = [
    ['closes without a word', (socket) => socket.end(), 502, 'originReset'],
    ['resets', (socket) => socket.resetAndDestroy(), 502, 'originReset'],
    ['stops in the middle of the head', (socket) => socket.end(`${head}Content-Le`), 502, 'originReset'],
    ['sends garbage', (socket) => socket.end('\0\x01\x02 no http at all\r\n\r\n'), 502, 'originMalformed'],
    ['sends another protocol', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'), 502, 'originMalformed'],
    [
      'sends a head of 1 MiB',
      (socket) => socket.end(`${head}X: ${'x'.repeat(1024 * 1024)}\r\n\r\n`),
      502,
      'originHeaderTooLarge',
    ],
    ['says nothing', () => undefined, 504, 'originTimeout'],
    ['stops after half a head', (socket) => socket.write(`${head}A: b\r\n`), 504, 'originTimeout'],
    [
      'switches protocols unasked',
      (socket) => socket.write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      502,
      'originMalformed',
    ],
    [
      'sends two lengths',
      (socket) => socket.end(`${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`),
      502,
      'originMalformed',
    ],
    [
      'sends a length that is none',
      (socket) => socket.end(`${head}Content-Length: x\r\n\r\nab`),
      502,
      'originMalformed',
    ],
  ];
  for (const [what, respond, status, reason] of rows) {
    test(`a broken origin, ${what}: ${status} ${reason}`, async (t) => {
      const origin = await startRawOrigin(t, respond);
      // The others say it by themselves, however long the machine takes for it.
      const edge = await startTestEdge(t, [origin.port], { limits: status === 504 ? LIMITS : {} });
      const received = await edge.get('/');
      assert.deepEqual(
        [received.status, received.headers['x-cache'], received.isWhole],
        [status, `ERROR ${reason}`, true],
      );
      assert.match(received.body, new RegExp(`${status}.*\n${reason}`));
      assert.equal(received.headers['cache-control'], 'no-store');
      await assertAlive(edge, t);
      const metrics = await edge.registry.metrics();
      assert.match(metrics, new RegExp(`causeway_edge_origin_failures_total{reason="${reason}"} 1`));
      assert.match(
        metrics,
        new RegExp(`causeway_edge_requests_total{cache="ERROR",reason="${reason}",status="5xx"} 1`),
      );
    });
  }

  test('a dead origin is 502, and after three failures it is marked down but still asked if it is the only one', async (t) => {
    const edge = await startTestEdge(t, [await freePort()], { limits: LIMITS });
    for (let i = 0; i < 5; i++) {
      const received = await edge.get('/');
      assert.deepEqual([received.status, received.headers['x-cache']], [502, 'ERROR originConnect']);
    }
    await assertAlive(edge, t);
  });

  test('an unresolved name, a refused address and the absence of an origin are each answered with their reason', async (t) => {
    const origins = (host: string) => ({ primary: [{ host, port: 80 }] });
    const resolve = async (host: string) => {
      if (host === 'inner.example') return ['127.0.0.1', '10.1.2.3', '169.254.169.254'];
      throw new Error('no such name');
    };
    const rows = [
      ['gone.example', 'originDns'],
      ['inner.example', 'originForbidden'],
      ['10.1.2.3', 'originForbidden'],
      ['::ffff:127.0.0.1', 'originForbidden'],
    ] as const;
    for (const [host, reason] of rows) {
      const edge = await startTestEdge(t, origins(host), { resolve, guard: createGuard({ allow: [], refuse: [] }) });
      const received = await edge.get('/');
      assert.deepEqual([received.status, received.headers['x-cache']], [502, `ERROR ${reason}`], host);
    }
    const edge = await startTestEdge(t, [await freePort()]);
    edge.put({ name: 'live.example.com', type: 'live' });
    assert.equal((await edge.get('/', { host: 'live.example.com' })).headers['x-cache'], 'ERROR noOrigin');
  });
});

describe('an origin whose connections are all in use', () => {
  const limits = { originWaitMs: 500, maxOriginConnections: 2 };

  test('an origin without a free connection answers others 503 in time, and serves them when one is free', async (t) => {
    const { edge } = await startSite(
      t,
      (request, response) => {
        if (request.target === '/plain') return void response.end('plain');
        response.writeHead(200, { 'cache-control': 'no-store' });
        response.write('for ever');
      },
      { limits },
    );
    const streams = ['127.0.0.2', '127.0.0.3'].map((from, i) =>
      connectRaw(edge.port, `GET /${i} HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`, from),
    );
    await eventually('streaming', () => streams.every((stream) => stream.text().includes('for ever')));
    const busy = await edge.get('/plain');
    assert.deepEqual([busy.status, busy.headers['x-cache']], [503, 'ERROR originBusy']);
    const waiting = edge.get('/plain');
    streams[0]?.socket.destroy();
    assert.equal((await waiting).body, 'plain');
    // It is there: being busy does not mark it down.
    assert.equal((await edge.get('/plain')).body, 'plain');
  });

  test('an origin without a free connection makes the edge ask another one', async (t) => {
    const hanging = await startOrigin(t, (_request, response) => void response.write('for ever'));
    const other = await startOrigin(t, reply('other'));
    const edge = await startTestEdge(
      t,
      {
        primary: [{ host: '127.0.0.1', port: hanging.port }],
        backup: [{ host: '127.0.0.1', port: other.port }],
      },
      { limits },
    );
    for (const from of ['127.0.0.2', '127.0.0.3'])
      connectRaw(edge.port, `GET /${from} HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`, from);
    await eventually('streaming', () => hanging.requests.length === 2);
    assert.equal((await edge.get('/3')).body, 'other');
  });
});

describe('a body that goes wrong', () => {
  type Row = readonly [
    what: string,
    bytes: string,
    ending: 'end' | 'reset' | 'stall',
    expected: string,
    isWhole: boolean,
  ];
  const fresh = 'HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n';
  const rows: readonly Row[] = [
    ['too few bytes: cut, not stored', `${fresh}Content-Length: 10\r\n\r\nabc`, 'end', 'abc', false],
    ['a reset in the middle: cut, not stored', `${fresh}Content-Length: 10\r\n\r\nabc`, 'reset', 'abc', false],
    ['a stall in the middle: cut, not stored', `${fresh}Content-Length: 10\r\n\r\nabc`, 'stall', 'abc', false],
    [
      'chunks without an end: cut, not stored',
      `${fresh}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`,
      'end',
      'abc',
      false,
    ],
    [
      'chunks with a broken size: cut, not stored',
      `${fresh}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n`,
      'stall',
      'abc',
      false,
    ],
    ['too many bytes: the surplus is dropped', `${fresh}Content-Length: 3\r\n\r\nabcdef`, 'stall', 'abc', true],
    ['no length: read to the end of the connection', `${fresh}\r\nabc`, 'end', 'abc', true],
    [
      'an unknown coding: read to the end of the connection',
      `${fresh}Transfer-Encoding: foo\r\n\r\nabc`,
      'end',
      'abc',
      true,
    ],
    [
      'a trailer: the trailer is dropped',
      `${fresh}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n`,
      'stall',
      'abc',
      true,
    ],
  ];
  for (const [what, bytes, ending, expected, isWhole] of rows) {
    test(`a body with ${what}`, async (t) => {
      const origin = await startRawOrigin(t, (socket) => {
        socket.write(bytes, () => {
          if (ending === 'end') socket.end();
          // The bytes shall arrive before the reset does.
          if (ending === 'reset') setTimeout(() => socket.resetAndDestroy(), 250);
        });
      });
      const edge = await startTestEdge(t, [origin.port], { limits: ending === 'stall' ? LIMITS : {} });
      const first = await edge.get('/');
      assert.deepEqual([first.status, first.isWhole], [200, isWhole]);
      assert.ok(expected.startsWith(first.body) && (first.body === expected || !isWhole));
      assert.equal(first.headers['x-trailer'], undefined);
      assert.equal((await edge.get('/')).headers['x-cache'], isWhole ? 'HIT' : 'MISS');
      if (!isWhole) assert.equal(edge.log[0]?.result, 'TCP_MISS/502');
      await assertAlive(edge, t);
    });
  }

  test('a length beside chunks does not frame the answer', async (t) => {
    const origin = await startRawOrigin(t, (socket) => {
      socket.write(`${fresh}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`);
    });
    const edge = await startTestEdge(t, [origin.port], { limits: LIMITS });
    const received = await edge.get('/');
    if (received.status === 502) assert.equal(received.headers['x-cache'], 'ERROR originMalformed');
    else assert.deepEqual([received.body, received.isWhole], ['abc', true]);
    await assertAlive(edge, t);
  });
});

describe('every byte from an origin', () => {
  const places = {
    'a value': (byte: string) => `HTTP/1.1 200 OK\r\nX: a${byte}b\r\nContent-Length: 0\r\n\r\n`,
    'a name': (byte: string) => `HTTP/1.1 200 OK\r\na${byte}b: x\r\nContent-Length: 0\r\n\r\n`,
    'the reason': (byte: string) => `HTTP/1.1 200 O${byte}K\r\nContent-Length: 0\r\n\r\n`,
    'an interim response': (byte: string) =>
      `HTTP/1.1 103 E\r\nX: a${byte}b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`,
  };
  for (const [place, response] of Object.entries(places)) {
    test(`every byte from an origin in ${place} passes or is 502, and is never a fault of the edge`, async (t) => {
      const origin = await startRawOrigin(t, (socket, head) => {
        const [, code = ''] = /^GET \/(\d+)/.exec(head) ?? [];
        socket.end(response(String.fromCharCode(Number(code))), 'latin1');
      });
      const edge = await startTestEdge(t, [origin.port]);
      for (let code = 0; code < 256; code++) {
        const received = await edge.get(`/${code}`);
        assert.ok(
          received.status === 200 || received.status === 502,
          `byte ${code}: ${received.status} ${received.headers['x-cache']}`,
        );
      }
    });
  }
});

describe('failover inside one request', () => {
  test('a status of 500, 502, 503 or 504 goes on to the next origin for GET, HEAD and OPTIONS without a body', async (t) => {
    for (const status of [500, 502, 503, 504]) {
      const bad = await startOrigin(t, reply('bad', {}, status));
      const good = await startOrigin(t, reply('good'));
      const edge = await startTestEdge(t, [bad.port, good.port]);
      const received = await edge.get('/');
      assert.deepEqual([received.status, received.body, bad.requests.length], [200, 'good', 1]);
      // The turn is at the second origin now; the third request is the first origin's again.
      await edge.get('/', { method: 'HEAD' });
      assert.equal((await edge.get('/', { method: 'OPTIONS' })).status, 200);
      assert.equal(bad.requests.length, 2);
    }
  });

  test('404 and 501 do not go on to the next origin, nor does any status of a POST', async (t) => {
    const bad = await startOrigin(t, reply('bad', {}, 404));
    const good = await startOrigin(t, reply('good'));
    const edge = await startTestEdge(t, {
      primary: [{ host: '127.0.0.1', port: bad.port }],
      backup: [{ host: '127.0.0.1', port: good.port }],
    });
    assert.equal((await edge.get('/')).status, 404);
    bad.answer(reply('bad', {}, 503));
    assert.equal((await edge.get('/', { method: 'POST', body: 'x' })).status, 503);
    assert.equal((await edge.get('/', { method: 'DELETE' })).status, 503);
    assert.equal(good.requests.length, 0);
  });

  test('the last answer passes through if all origins fail by status; at most three are asked', async (t) => {
    const origins = await Promise.all(['a', 'b', 'c', 'd'].map((name) => startOrigin(t, reply(name, {}, 503))));
    const edge = await startTestEdge(
      t,
      origins.map(({ port }) => port),
    );
    const received = await edge.get('/');
    assert.deepEqual([received.status, received.body, received.headers['x-cache']?.slice(0, 4)], [503, 'c', 'MISS']);
    assert.deepEqual(
      origins.map(({ requests }) => requests.length),
      [1, 1, 1, 0],
    );
  });

  test('an origin that is listed twice is not asked twice', async (t) => {
    const origin = await startOrigin(t, reply('bad', {}, 503));
    const edge = await startTestEdge(t, [origin.port, origin.port]);
    await edge.get('/');
    assert.equal(origin.requests.length, 1);
  });

  test('a body goes to the next origin if no byte of it was sent', async (t) => {
    const good = await startOrigin(t, reply('ok'));
    const edge = await startTestEdge(t, [await freePort(), good.port]);
    const received = await edge.get('/', { method: 'POST', body: 'data' });
    assert.deepEqual([received.status, good.requests[0]?.body], [200, 'data']);
  });

  test('a body does not go to the next origin once a byte was sent', async (t) => {
    const bad = await startRawOrigin(t, (socket) => socket.destroy());
    const good = await startOrigin(t, reply('ok'));
    const edge = await startTestEdge(t, [bad.port, good.port]);
    assert.equal((await edge.get('/', { method: 'POST', body: 'data' })).status, 502);
    assert.equal(good.requests.length, 0);
  });

  test('primaries take turns in round-robin; a backup is used only if no primary is usable', async (t) => {
    const [a, b, backup] = await Promise.all([
      startOrigin(t, reply('a')),
      startOrigin(t, reply('b')),
      startOrigin(t, reply('backup')),
    ]);
    const edge = await startTestEdge(t, {
      primary: [a, b].map(({ port }) => ({ host: '127.0.0.1', port })),
      backup: [{ host: '127.0.0.1', port: backup.port }],
    });
    const bodies = async (count: number) => {
      const list: string[] = [];
      for (let i = 0; i < count; i++) list.push((await edge.get('/')).body);
      return list.join(' ');
    };
    assert.equal(await bodies(4), 'a b a b');
    await a.stop();
    await b.stop();
    assert.equal(await bodies(4), 'backup backup backup backup');
    assert.equal(backup.requests.length, 4);
  });

  test('an idle connection that the origin closed is not a failure, and the request is not lost', async (t) => {
    let served = 0;
    const origin = await startRawOrigin(t, (socket) => {
      served++;
      // The second request on a connection finds it closed.
      if (served % 2 === 0) return void socket.destroy();
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx');
    });
    const edge = await startTestEdge(t, [origin.port]);
    assert.equal((await edge.get('/1')).status, 200);
    assert.equal((await edge.get('/2')).status, 200);
    assert.equal(origin.heads.length, 3);
  });

  test('a new connection that is closed is not tried twice', async (t) => {
    const origin = await startRawOrigin(t, (socket) => void socket.destroy());
    const edge = await startTestEdge(t, [origin.port]);
    assert.equal((await edge.get('/')).status, 502);
    assert.equal(origin.heads.length, 1);
  });
});

async function assertAlive(edge: TestEdge, t: { after(work: () => unknown): void }): Promise<void> {
  const good = await startOrigin(t, reply('alive'));
  edge.put({
    name: 'alive.example.com',
    origins: {
      protocol: 'http',
      primary: [{ host: '127.0.0.1', port: good.port }],
      backup: [],
      hostHeader: '',
      probePath: '',
    },
  });
  assert.equal((await edge.get('/', { host: 'alive.example.com' })).body, 'alive');
}
