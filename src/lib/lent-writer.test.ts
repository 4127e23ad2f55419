import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createLentWriter, type LentWriter } from './lent-writer.ts';
import { createDirectWrites, type DirectWrite } from './node-internals/direct-write.ts';

const KIB = 1024;
const PIECE = 60 * KIB;
const PIECES = 200;

test('lent bytes arrive as they were, however many clients have to be waited for', async (t) => {
  const writer = createLentWriter();
  const pairs = await Promise.all(Array.from({ length: 6 }, () => openPair(t)));
  const lent = Buffer.alloc(PIECE);
  for (const [index, { client }] of pairs.entries()) if (index % 3 === 1) client.pause();
  const texts = pairs.map(({ client }) => readAll(client));
  for (let i = 0; i < PIECES; i++) {
    for (const [index, pair] of pairs.entries()) {
      lent.fill(index * 31 + i);
      writeLent(writer, pair, lent);
    }
    lent.fill(255);
    // Slow clients catch up while others are written to, so their buffers are reused.
    if (i === PIECES / 2) for (const { client } of pairs) client.resume();
    if (i % 10 === 0) await turn();
  }
  for (const { server } of pairs) server.end();
  for (const [index, text] of texts.entries()) {
    const expected = Array.from({ length: PIECES }, (_, i) => [
      Buffer.from('before'),
      Buffer.alloc(PIECE, (index * 31 + i) & 255),
      Buffer.from('behind'),
    ]).flat();
    assert.ok((await text).equals(Buffer.concat(expected)), `client ${index}`);
  }
});

test('memory of lent bytes is used again when the system has taken them, not before', async (t) => {
  const writer = createLentWriter();
  const pair = await openPair(t);
  const used = new Set<ArrayBufferLike>();
  const watched: DirectWrite = {
    tryAll: (first, rest) => {
      used.add(first.buffer);
      return pair.direct.tryAll(first, rest);
    },
  };
  const write = () => writer.write(pair.server, watched, '', Buffer.alloc(PIECE), '');
  pair.client.pause();
  while (pair.server.writableLength === 0) write();
  const before = used.size;
  for (let i = 0; i < 10; i++) {
    pair.client.resume();
    while (pair.server.writableLength > 0) await turn();
    pair.client.pause();
    while (pair.server.writableLength === 0) write();
  }
  assert.equal(used.size, before);
});

interface Pair {
  readonly server: Socket;
  readonly client: Socket;
  readonly direct: DirectWrite;
}

function writeLent(writer: LentWriter, { server, direct }: Pair, bytes: Buffer): void {
  writer.write(server, direct, 'before', bytes, 'behind');
}

async function openPair(t: TestContext): Promise<Pair> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  const client = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1');
  const [server]: Socket[] = await once(listener, 'connection');
  assert.ok(server !== undefined);
  t.after(() => {
    client.destroy();
    server.destroy();
    listener.close();
  });
  const direct = createDirectWrites()(server);
  assert.ok(direct !== undefined);
  return { server, client, direct };
}

async function readAll(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  await once(socket, 'end');
  return Buffer.concat(pieces);
}
