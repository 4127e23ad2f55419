import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createSharedReading, READ_BYTES } from '#lib/node-internals/shared-reading.ts';
import { RecycledBuffers } from '#lib/recycled-buffers.ts';
import { createSwept } from '#lib/swept.ts';
import { ConnectError } from '../connector.ts';
import type { OwnBody } from './body.ts';
import type { OwnConnection, OwnHandler } from './connection.ts';
import { OwnPool } from './pool.ts';

const DESTINATION = { host: '127.0.0.1', port: 1, isAddress: true, serverName: undefined };
const REQUEST = { bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n'), isHead: false, needsFresh: false };
const EMPTY = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

/** Records a handler's notifications. */
function createRecorder(): { readonly handler: OwnHandler; readonly events: string[] } {
  const events: string[] = [];
  const handler: OwnHandler = {
    onSent: () => void events.push('sent'),
    onInterim: (status) => void events.push(`interim ${status}`),
    onHead: ({ status }, body) => {
      events.push(`head ${status}`);
      body.start({
        onChunk: () => undefined,
        onEnd: () => void events.push('end'),
        onCut: () => void events.push('cut'),
      });
    },
    onFailure: ({ failure, isSent, isIdleClose }) => void events.push(`${failure} ${isSent} ${isIdleClose}`),
    onBytes: () => undefined,
    onWait: (isWaiting) => void events.push(isWaiting ? 'waits' : 'goes on'),
    onOver: (cut) => void events.push(cut === undefined ? 'over' : 'broken'),
  };
  return { handler, events };
}

/** A pool whose connections open when the test says so; `peers` are their other ends. */
async function startPool(t: TestContext) {
  const peers: Socket[] = [];
  const server = createServer((socket) => {
    peers.push(socket);
    socket.on('error', () => undefined); // shows as closed
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const openings: PromiseWithResolvers<Socket>[] = [];
  const parts = {
    reading: createSharedReading(),
    unread: new RecycledBuffers(READ_BYTES, 4),
    openDirectWrite: () => undefined,
    swept: createSwept<OwnConnection>(50),
    limits: { firstByteMs: 10_000, bodyIdleMs: 10_000, maxAgeMs: 10_000 },
    monotonic: () => performance.now(),
  };
  const pool = new OwnPool(
    DESTINATION,
    () => {
      const opening = Promise.withResolvers<Socket>();
      openings.push(opening);
      return opening.promise;
    },
    parts,
  );
  const open = async (index: number): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    openings[index]?.resolve(socket);
    await turn();
    return socket;
  };
  t.after(() => {
    pool.close();
    for (const peer of peers) peer.destroy();
    server.close();
  });
  return { pool, peers, openings, open };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let turns = 0; !isSo(); turns++) {
    assert.ok(turns < 100_000, what);
    await turn();
  }
}

test('a connection whose request was cancelled while it opened goes to the next request', async (t) => {
  const { pool, peers, openings, open } = await startPool(t);
  const [first, second] = [createRecorder(), createRecorder()];
  pool.ask(REQUEST, first.handler).cancel();
  pool.ask(REQUEST, second.handler);
  assert.equal(openings.length, 1);
  await open(0);
  await until('a peer', () => peers.length === 1);
  peers[0]?.write(EMPTY);
  await until('answered', () => second.events.length === 4);
  assert.deepEqual([first.events, second.events], [[], ['sent', 'head 200', 'over', 'end']]);
});

test('a connection that opened for nobody is idle, and its failure to open is nobody’s', async (t) => {
  const { pool, openings, open } = await startPool(t);
  const [first, second, third] = [createRecorder(), createRecorder(), createRecorder()];
  const asked = pool.ask(REQUEST, first.handler);
  pool.ask(REQUEST, second.handler).cancel();
  asked.cancel();
  openings[1]?.reject(new ConnectError('originConnect', 'refused'));
  await open(0);
  pool.ask(REQUEST, third.handler);
  assert.deepEqual([first.events, second.events, third.events, openings.length], [[], [], ['sent'], 2]);
});

test('a connection that fails to open fails its request, which was not sent', async (t) => {
  const { pool, openings } = await startPool(t);
  const { handler, events } = createRecorder();
  pool.ask(REQUEST, handler);
  openings[0]?.reject(new ConnectError('originConnect', 'refused'));
  await turn();
  assert.deepEqual(events, ['originConnect false false']);
});

test('a request that is cancelled under way closes its connection, and hears of nothing', async (t) => {
  const { pool, peers, openings, open } = await startPool(t);
  const { handler, events } = createRecorder();
  const asked = pool.ask(REQUEST, handler);
  const socket = await open(0);
  asked.cancel();
  assert.ok(socket.destroyed);
  await until('a peer', () => peers.length === 1);
  pool.ask(REQUEST, createRecorder().handler);
  assert.deepEqual([events, openings.length], [['sent'], 2]);
});

test('closing the pool fails what is under way, and closes what is still being opened', async (t) => {
  const { pool, open } = await startPool(t);
  const [first, second] = [createRecorder(), createRecorder()];
  pool.ask(REQUEST, first.handler);
  await open(0);
  pool.ask(REQUEST, second.handler);
  pool.close();
  const late = await open(1);
  assert.deepEqual(first.events, ['sent', 'originReset true false']);
  assert.deepEqual([second.events, late.destroyed], [['originReset false false'], true]);
});

test('a reset is an idle close only on a connection that was idle, before a byte of the response', async (t) => {
  const { pool, peers, open } = await startPool(t);
  const [first, second] = [createRecorder(), createRecorder()];
  pool.ask(REQUEST, first.handler);
  await open(0);
  await until('a peer', () => peers.length === 1);
  peers[0]?.write(EMPTY);
  await until('answered', () => first.events.includes('end'));
  pool.ask(REQUEST, second.handler);
  peers[0]?.destroy();
  await until('failed', () => second.events.length === 2);
  assert.deepEqual(second.events, ['sent', 'originReset true true']);
  const [third, fourth] = [createRecorder(), createRecorder()];
  pool.ask(REQUEST, third.handler);
  await open(1);
  await until('a peer', () => peers.length === 2);
  peers[1]?.write(EMPTY);
  await until('answered', () => third.events.includes('end'));
  pool.ask(REQUEST, fourth.handler);
  peers[1]?.end('HTTP/1.1 2');
  await until('failed', () => fourth.events.length === 2);
  assert.deepEqual(fourth.events, ['sent', 'originReset true false']);
});

test('a pause ends with its body: the connection that was paused brings the next response', async (t) => {
  const { pool, peers, openings, open } = await startPool(t);
  const [first, second] = [createRecorder(), createRecorder()];
  let body: OwnBody | undefined;
  pool.ask(REQUEST, {
    ...first.handler,
    onHead: (_head, given) => {
      body = given;
      given.start({
        onChunk: () => given.pause(),
        onEnd: () => void first.events.push('end'),
        onCut: () => void first.events.push('cut'),
      });
    },
  });
  const socket = await open(0);
  await until('a peer', () => peers.length === 1);
  // Written in pieces, so that the last ones arrive while the body is paused.
  const pieces = ['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n', 'a', 'bc'];
  for (const text of pieces) {
    // The origin waits once it has sent more than was read, not before.
    assert.ok(!first.events.includes('waits'));
    const before = socket.bytesRead;
    peers[0]?.write(text);
    await until('read', () => socket.bytesRead === before + text.length);
  }
  assert.deepEqual([first.events, socket.isPaused()], [['sent', 'waits'], true]);
  body?.resume(); // passes the rest on, and the sink pauses again
  await until('whole', () => first.events.includes('end'));
  pool.ask(REQUEST, second.handler);
  peers[0]?.write(EMPTY);
  await until('answered', () => second.events.includes('end'));
  assert.equal(openings.length, 1);
});

test('a byte on an idle connection ends it at once', async (t) => {
  const { pool, peers, openings, open } = await startPool(t);
  const { handler, events } = createRecorder();
  pool.ask(REQUEST, handler);
  const socket = await open(0);
  await until('a peer', () => peers.length === 1);
  peers[0]?.write(EMPTY);
  await until('answered', () => events.includes('end'));
  peers[0]?.write('H');
  await until('read', () => socket.bytesRead === EMPTY.length + 1);
  assert.ok(socket.destroyed);
  pool.ask(REQUEST, createRecorder().handler);
  assert.equal(openings.length, 2);
});

test('a connection that broke off while the last bytes of a body waited takes no more requests', async (t) => {
  const { pool, peers, openings, open } = await startPool(t);
  const { handler, events } = createRecorder();
  let body: OwnBody | undefined;
  pool.ask(REQUEST, {
    ...handler,
    onHead: (_head, given) => {
      body = given;
      given.start({
        onChunk: () => given.pause(),
        onEnd: () => void events.push('end'),
        onCut: () => void events.push('cut'),
      });
    },
  });
  const socket = await open(0);
  await until('a peer', () => peers.length === 1);
  for (const text of ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n', 'a', 'b']) {
    const before = socket.bytesRead;
    peers[0]?.write(text);
    await until('read', () => socket.bytesRead === before + text.length);
  }
  socket.destroy(); // as a reset does, but at a known instant
  await once(socket, 'close');
  body?.resume();
  assert.deepEqual(events, ['sent', 'waits', 'goes on', 'over', 'end']);
  pool.ask(REQUEST, createRecorder().handler);
  assert.equal(openings.length, 2);
});
