/** What our own client of origins holds to, whatever origins and viewers do. docs/decisions/0555 */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { MemoryStore } from '../../src/edge/store/memory.ts';
import { connectRaw, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { startRawOrigin } from '../support/edge/origin.ts';
import { overwrite } from '../support/edge/overwrite.ts';
import { eventually } from '../support/eventually.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const GET = (target: string) => `GET ${target} HTTP/1.1\r\nHost: ${SITE_HOST}\r\n\r\n`;
const answer = (body: string, fields = 'Cache-Control: no-store\r\n') =>
  `HTTP/1.1 200 OK\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`;

describe('connections that were idle', () => {
  test('a request that finds its connection closed goes out once more, on a fresh one', async (t) => {
    const used = new Set<Socket>();
    const waiting: Socket[] = [];
    const origin = await startRawOrigin(t, (socket, head) => {
      if (used.has(socket)) return void socket.destroy();
      used.add(socket);
      if (head.startsWith('GET /late')) return void socket.write(answer('late'));
      waiting.push(socket);
      if (waiting.length === 2) for (const one of waiting) one.write(answer('x'));
    });
    const edge = await startTestEdge(t, [origin.port]);
    await Promise.all([edge.get('/a'), edge.get('/b')]);
    // Both connections are idle, and will be closed instead of answered.
    const received = await edge.get('/late');
    assert.deepEqual([received.status, received.body, origin.heads.length], [200, 'late', 4]);
  });

  test('a connection is closed a second before its origin would close it', async (t) => {
    const closed: number[] = [];
    const origin = await startRawOrigin(t, (socket) => {
      socket.once('close', () => closed.push(1));
      socket.write(answer('x', 'Keep-Alive: timeout=2\r\n'));
    });
    const edge = await startTestEdge(t, [origin.port], { limits: { originConnectionMs: 60_000 } });
    await edge.get('/');
    await eventually('closed', () => closed.length === 1);
    assert.equal(origin.connections(), 1);
  });

  test('a reset behind a whole body is no failure, and the body is stored', async (t) => {
    const origin = await startRawOrigin(t, (socket) => {
      socket.write(answer('whole', 'Cache-Control: max-age=60\r\n'), () => socket.resetAndDestroy());
    });
    const edge = await startTestEdge(t, [origin.port]);
    const [miss, hit] = [await edge.get('/'), await edge.get('/')];
    assert.deepEqual([miss.status, miss.body, miss.isWhole], [200, 'whole', true]);
    assert.deepEqual([hit.headers['x-cache'], hit.body], ['HIT', 'whole']);
    assert.doesNotMatch(await edge.registry.metrics(), /origin_failures_total\{reason="originCut"\} [1-9]/);
  });
});

describe('responses to HEAD', () => {
  test('a body that an origin sends late, behind the head, is not the response to the next request', async (t) => {
    const planted = answer('planted', 'Cache-Control: max-age=60\r\n');
    const late = new Map<Socket, string>();
    const origin = await startRawOrigin(t, (socket, head) => {
      if (!head.startsWith('HEAD')) return void socket.write((late.get(socket) ?? '') + answer('next'));
      late.set(socket, planted);
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${planted.length}\r\n\r\n`);
    });
    const edge = await startTestEdge(t, [origin.port]);
    assert.equal((await edge.get('/head', { method: 'HEAD' })).status, 200);
    assert.equal((await edge.get('/next')).body, 'next');
  });
});

describe('limits of time', () => {
  test('a head that trickles in does not put off the limit for the first byte', async (t) => {
    const origin = await startRawOrigin(t, (socket) => {
      const bytes = [...`HTTP/1.1 200 OK\r\nA: ${'b'.repeat(10_000)}`];
      const timer = setInterval(() => socket.write(bytes.shift() ?? ''), 20);
      socket.once('close', () => clearInterval(timer));
    });
    const edge = await startTestEdge(t, [origin.port], { limits: { firstByteMs: 300 } });
    const received = await edge.get('/');
    assert.deepEqual([received.status, received.headers['x-cache']], [504, 'ERROR originTimeout']);
  });

  test('a request that waited for its turn is as old as its bytes on the wire, not as its wait', async (t) => {
    const held: Socket[] = [];
    const origin = await startRawOrigin(t, (socket, head) => {
      if (head.startsWith('GET /held')) held.push(socket);
      else socket.write(answer('fresh', 'Cache-Control: max-age=60\r\n'));
    });
    const edge = await startTestEdge(t, [origin.port], { limits: { maxOriginConnections: 1 } });
    const first = edge.get('/held', { from: '127.0.0.2' });
    await eventually('asked', () => held.length === 1);
    const second = edge.get('/fresh', { from: '127.0.0.3' });
    await eventually('both are served', () => edge.edge.underWay === 2);
    edge.advance(1_000);
    edge.purge({ kind: 'site', target: '' });
    edge.advance(1_000);
    held[0]?.write(answer('x'));
    await Promise.all([first, second]);
    assert.equal((await edge.get('/fresh')).headers['x-cache'], 'HIT');
  });
});

describe('purges while a response is on its way', () => {
  test('a purge while a body arrives keeps it out of the store', async (t) => {
    const held: Socket[] = [];
    const origin = await startRawOrigin(t, (socket, _head, count) => {
      if (count > 1) return void socket.write(answer('new', 'Cache-Control: max-age=60\r\n'));
      held.push(socket);
      socket.write('HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 8\r\n\r\nold ');
    });
    const store = new MemoryStore({ maxBytes: MIB });
    const edge = await startTestEdge(t, [origin.port], { store });
    const client = connectRaw(edge.port, GET('/'));
    await eventually('admitted', () => client.text().endsWith('old '));
    assert.match(client.text(), /X-Cache: MISS\r\n/);
    edge.advance(1_000);
    edge.purge({ kind: 'site', target: '' });
    edge.advance(1_000);
    held[0]?.write('body');
    await eventually('whole', () => client.text().endsWith('old body'));
    assert.equal(store.usage().objects, 0);
    const next = await edge.get('/');
    assert.deepEqual([next.headers['x-cache'], next.body, store.usage().objects], ['MISS', 'new', 1]);
    client.socket.destroy();
  });

  test('a response is as old as its request on the wire, not as the look-up of its origin', async (t) => {
    const origin = await startRawOrigin(t, (socket) => {
      socket.write(answer('fresh', 'Cache-Control: max-age=60\r\n'));
    });
    const found = Promise.withResolvers<readonly string[]>();
    let lookups = 0;
    const resolve = () => {
      lookups++;
      return found.promise;
    };
    const edge = await startTestEdge(t, { primary: [{ host: 'origin.test', port: origin.port }] }, { resolve });
    const first = edge.get('/');
    await eventually('looked up', () => lookups > 0);
    edge.advance(1_000);
    edge.purge({ kind: 'site', target: '' });
    edge.advance(1_000);
    found.resolve(['127.0.0.1']);
    assert.equal((await first).headers['x-cache'], 'MISS');
    assert.equal((await edge.get('/')).headers['x-cache'], 'HIT');
  });
});

describe('bytes on their way', () => {
  /** Every 8 bytes name their place and their body. */
  const patterned = (name: string, sizeBytes: number) => {
    const lines: string[] = [];
    for (let at = 0; at < sizeBytes; at += 8) lines.push(name + at.toString(36).padStart(7, '.'));
    return lines.join('').slice(0, sizeBytes);
  };

  for (const [what, fields] of [
    ['that are not stored', 'Cache-Control: no-store\r\n'],
    ['that are stored', 'Cache-Control: max-age=60\r\n'],
  ] as const) {
    test(`bodies ${what} are never mixed, however slowly they are taken`, async (t) => {
      const names = [...'abc'];
      // More than the system's buffers hold.
      const bodies = new Map(names.map((name) => [name, patterned(name, 12 * MIB + 17)]));
      const origin = await startRawOrigin(t, (socket, head) => {
        const name = head.charAt('GET /'.length);
        socket.write(answer(bodies.get(name) ?? '', fields), 'latin1');
      });
      const edge = await startTestEdge(t, [origin.port], { cacheBytes: 512 * MIB });
      const clients = names.map((name) => connectRaw(edge.port, GET(`/${name}`)));
      const isWhole = (index: number) => (clients[index]?.text().length ?? 0) > 12 * MIB + 17;
      for (const index of [0, 1]) clients[index]?.socket.pause();
      await eventually('the one that reads has its body', () => isWhole(2));
      for (const index of [0, 1]) clients[index]?.socket.resume();
      await eventually('the others have theirs', () => isWhole(0) && isWhole(1));
      for (const [index, name] of names.entries()) {
        const text = clients[index]?.text() ?? '';
        assert.ok(text.slice(text.indexOf('\r\n\r\n') + 4) === bodies.get(name), `the body of ${name}`);
      }
      if (what === 'that are not stored') return;
      for (const name of names) assert.ok((await edge.get(`/${name}`)).body === bodies.get(name), `${name}, stored`);
      assert.equal(origin.heads.length, names.length);
    });
  }

  test('an origin waits for a viewer that takes nothing, and its connection serves the next request', async (t) => {
    const sizeBytes = 48 * MIB;
    let given = 0;
    const origin = await startRawOrigin(t, (socket, head) => {
      if (head.startsWith('GET /next')) return void socket.write(answer('next'));
      socket.write(`HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: ${sizeBytes}\r\n\r\n`);
      const piece = Buffer.alloc(256 * KIB, 'x');
      const more = () => {
        while (given < sizeBytes) {
          given += piece.length;
          if (!socket.write(piece)) return void socket.once('drain', more);
        }
      };
      more();
    });
    const edge = await startTestEdge(t, [origin.port], { limits: { maxBufferMemoryBytes: MIB } });
    const client = connectRaw(edge.port, GET('/large'));
    client.socket.pause();
    let [before, same] = [-1, 0];
    await eventually('the origin waits', () => {
      same = given === before && given > 0 ? same + 1 : 0;
      before = given;
      return same > 20;
    });
    assert.ok(given < sizeBytes, `${given} bytes`);
    client.socket.resume();
    await eventually('all of it is there', () => client.text().length > sizeBytes);
    assert.equal((await edge.get('/next')).body, 'next');
    assert.equal(origin.connections(), 1);
  });
});

test('a fault of ours while a body is passed on ends its request and the connection, and nothing else', async (t) => {
  const closed: string[] = [];
  const origin = await startRawOrigin(t, (socket, head) => {
    if (head.startsWith('GET /next')) return void socket.write(answer('next'));
    socket.once('close', () => closed.push('closed'));
    socket.write('HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 1000000\r\n\r\nbegins');
  });
  const store = new MemoryStore({ maxBytes: 32 * MIB, onFreed: overwrite });
  const openWriter = store.openWriter.bind(store);
  const add = () => {
    throw new Error('a fault');
  };
  let opened = 0;
  Object.assign(store, { openWriter: () => (opened++ === 0 ? Object.assign(openWriter(), { add }) : openWriter()) });
  const edge = await startTestEdge(t, [origin.port], { store });
  const faulty = await edge.get('/faulty');
  assert.deepEqual([faulty.status, faulty.headers['x-cache']], [502, 'ERROR originCut']);
  await eventually('closed', () => closed.length === 1);
  assert.equal((await edge.get('/next')).body, 'next');
});
