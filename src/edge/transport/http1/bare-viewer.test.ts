import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { createLentWriter } from '#lib/lent-writer.ts';
import { BareViewer, type BareWire } from './bare-viewer.ts';

const KEEP_ALIVE = 'Connection: keep-alive\r\n';

interface Asked {
  readonly method?: string;
  readonly isLast?: boolean;
  readonly idleTimeoutMs?: number;
}

/** A request on a connection of its own; the test reads the client's side. */
async function openViewer(t: TestContext, { method = 'GET', isLast = false, idleTimeoutMs = 60_000 }: Asked = {}) {
  const server = createServer({ noDelay: true }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  const client = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1');
  client.on('error', () => undefined); // shows as closed
  t.after(() => client.destroy());
  const [socket]: Socket[] = await once(server, 'connection');
  assert.ok(socket);
  t.after(() => socket.destroy());
  const wire: BareWire = {
    socket,
    isTls: false,
    direct: undefined,
    lentWriter: createLentWriter(),
    givenBytes: 0,
    get takenBytes() {
      return socket.bytesWritten;
    },
    destroy: () => void socket.destroy(),
  };
  const received = {
    method,
    target: '/',
    httpVersion: '1.1',
    headers: [],
    isTls: false,
    clientAddress: '',
    hasUnknownVersion: false,
    hasUnknownExpectation: false,
  } as const;
  const viewer = new BareViewer(wire, received, { headBytes: 18, isLast, keepAliveLines: KEEP_ALIVE, idleTimeoutMs });
  socket.on('error', () => undefined);
  socket.on('drain', () => viewer.noteDrained());
  socket.on('timeout', () => socket.destroy());
  socket.on('close', () => viewer.noteClosed());
  return { viewer, socket, client };
}

interface Script extends Asked {
  readonly status?: number;
  readonly headers?: readonly string[];
  readonly body?: readonly string[];
}

/** Returns all bytes that the client received until the connection ended or was cut. */
async function answer(t: TestContext, { status = 200, headers = [], body = [], ...asked }: Script) {
  const { viewer, socket, client } = await openViewer(t, asked);
  const text = readText(client);
  viewer.sendHead(status, 'Fine', headers);
  for (const piece of body) viewer.write(Buffer.from(piece));
  await viewer.end();
  const wasCut = socket.destroyed;
  socket.end();
  return { viewer, text: await text, wasCut };
}

describe('framing of answers', () => {
  const length = ['Content-Length', '6'];
  const rows: readonly (readonly [what: string, script: Script, lines: string, body: string])[] = [
    ['a length', { headers: length, body: ['abc', 'def'] }, `Content-Length: 6\r\n${KEEP_ALIVE}`, 'abcdef'],
    [
      'no length',
      { body: ['abc', '', 'de'] },
      `${KEEP_ALIVE}Transfer-Encoding: chunked\r\n`,
      '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
    ],
    ['no length and no body', {}, `${KEEP_ALIVE}Transfer-Encoding: chunked\r\n`, '0\r\n\r\n'],
    ['a length of zero', { headers: ['content-length', '0'] }, `content-length: 0\r\n${KEEP_ALIVE}`, ''],
    ['HEAD', { method: 'HEAD', headers: length, body: ['abcdef'] }, `Content-Length: 6\r\n${KEEP_ALIVE}`, ''],
    ['HEAD without a length', { method: 'HEAD' }, KEEP_ALIVE, ''],
    ['204', { status: 204, body: ['abc'] }, KEEP_ALIVE, ''],
    ['304', { status: 304, headers: length }, `Content-Length: 6\r\n${KEEP_ALIVE}`, ''],
    ['the last answer', { isLast: true, status: 204 }, 'Connection: close\r\n', ''],
    [
      'an answer with Connection: close',
      { headers: ['Connection', 'close', 'A', 'b'], status: 204 },
      'Connection: close\r\nA: b\r\n',
      '',
    ],
  ];
  for (const [what, script, lines, body] of rows) {
    test(`an answer is framed: ${what}`, async (t) => {
      const { viewer, text, wasCut } = await answer(t, script);
      assert.equal(text, `HTTP/1.1 ${script.status ?? 200} Fine\r\n${lines}\r\n${body}`);
      assert.equal(viewer.sentBytes, text.length);
      assert.deepEqual([viewer.isFinished, viewer.isGone, wasCut], [true, false, false]);
      assert.equal(viewer.isLast, lines.includes('close'));
    });
  }

  test('an answer longer than one piece is framed', async (t) => {
    const body = ['x'.repeat(100_000), 'y'.repeat(200_000)];
    const whole = await answer(t, { headers: ['Content-Length', '300000'], body });
    assert.ok(whole.text.endsWith(`\r\n\r\n${body.join('')}`));
    const chunked = await answer(t, { body });
    assert.ok(chunked.text.endsWith(`\r\n\r\n186a0\r\n${body[0]}\r\n30d40\r\n${body[1]}\r\n0\r\n\r\n`));
    for (const { viewer, text } of [whole, chunked]) assert.equal(viewer.sentBytes, text.length);
  });

  test('interim responses precede the head, and cannot follow it', async (t) => {
    const { viewer, socket, client } = await openViewer(t);
    viewer.sendInterim(103, ['Link', '</a>', 'Connection', 'x', 'X', '1', 'Content-Length', '9']);
    viewer.sendHead(204, 'No Content', []);
    viewer.sendInterim(103, []);
    await viewer.end();
    socket.end();
    const text = await readText(client);
    assert.equal(text, `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n${KEEP_ALIVE}\r\n`);
    assert.equal(viewer.sentBytes, text.length);
  });
});

describe('an answer with a wrong length', () => {
  test('an answer longer than its length is cut before the surplus', async (t) => {
    const { viewer, text, wasCut } = await answer(t, { headers: ['Content-Length', '4'], body: ['abc', 'def'] });
    assert.match(text, /\r\n\r\nabc$/);
    assert.deepEqual([wasCut, viewer.isFinished, viewer.cutStatus], [true, false, 500]);
  });

  test('an answer shorter than its length is cut at its end', async (t) => {
    const { viewer, text, wasCut } = await answer(t, { headers: ['Content-Length', '4'], body: ['abc'] });
    assert.match(text, /\r\n\r\nabc$/);
    assert.deepEqual([wasCut, viewer.isFinished, viewer.cutStatus], [true, false, 500]);
    assert.equal(viewer.sentBytes, text.length);
  });

  for (const value of ['', '-1', '1e3', '0x10', '1, 1', '9'.repeat(16)]) {
    test(`a length of "${value}" is an error, and nothing is sent`, async (t) => {
      const { viewer } = await openViewer(t);
      viewer.sendHead(200, 'OK', ['Content-Length', value]);
      assert.throws(() => viewer.write(Buffer.from('x')));
      assert.deepEqual([viewer.isBegun, viewer.sentBytes], [false, 0]);
    });
  }

  test('two lengths are an error, and another head may be sent instead', async (t) => {
    const { viewer, socket, client } = await openViewer(t);
    viewer.sendHead(200, 'OK', ['Content-Length', '1', 'content-length', '2']);
    assert.throws(() => viewer.write(Buffer.from('x')));
    viewer.sendHead(500, 'Error', ['Content-Length', '1']);
    viewer.write(Buffer.from('x'));
    await viewer.end();
    socket.end();
    assert.match(await readText(client), /^HTTP\/1\.1 500 Error\r\n[\s\S]*\r\n\r\nx$/);
  });
});

describe('a client that is slow', () => {
  const piece = Buffer.alloc(1024 * 1024, 'x');

  /** Writes until the system takes no more, and one more piece. Returns the number of bytes written. */
  function fill(viewer: BareViewer): number {
    let bytes = 0;
    do bytes += piece.length;
    while (viewer.write(piece));
    return bytes;
  }

  test('a slow client is waited for, and gets everything in the end', async (t) => {
    const { viewer, socket, client } = await openViewer(t);
    client.pause();
    viewer.sendHead(200, 'OK', []);
    const bytes = fill(viewer);
    assert.ok(viewer.queuedBytes > 0);
    const drained = viewer.drained();
    const text = readText(client);
    await drained;
    assert.equal(viewer.queuedBytes, 0);
    fill(viewer);
    await viewer.end();
    socket.end();
    assert.equal((await text).length, viewer.sentBytes);
    assert.ok(viewer.sentBytes > bytes);
    assert.equal(socket.timeout, 0);
  });

  test('a client that reads nothing for too long is gone, and unsent bytes do not count', async (t) => {
    const { viewer, client } = await openViewer(t, { idleTimeoutMs: 50 });
    client.pause();
    viewer.sendHead(200, 'OK', []);
    const bytes = fill(viewer) + piece.length;
    viewer.write(piece);
    await viewer.drained();
    assert.deepEqual([viewer.isGone, viewer.isFinished, viewer.signal.aborted], [true, false, true]);
    assert.ok(viewer.sentBytes < bytes, `${viewer.sentBytes} of ${bytes}`);
  });

  test('a slow client that leaves wakes the answer that waits for it', async (t) => {
    const { viewer, client } = await openViewer(t);
    client.pause();
    viewer.sendHead(200, 'OK', []);
    fill(viewer);
    const { signal, ended } = viewer;
    const waits = Promise.all([ended, viewer.drained(), viewer.end()]);
    client.resetAndDestroy();
    await waits;
    assert.deepEqual([signal.aborted, viewer.isFinished], [true, false]);
    assert.equal(viewer.write(piece), true);
    await Promise.all([viewer.drained(), viewer.end(), viewer.ended]);
  });

  test('a slow client whose answer is cut does not get the rest', async (t) => {
    const { viewer, client } = await openViewer(t);
    client.pause();
    viewer.sendHead(200, 'OK', []);
    fill(viewer);
    viewer.cut(502);
    await viewer.ended;
    assert.equal(viewer.cutStatus, 502);
    client.resume();
    let text = '';
    client.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    await once(client, 'close');
    assert.ok(!text.endsWith('0\r\n\r\n'));
  });
});
