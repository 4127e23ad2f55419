import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { AnswerWriter } from '../answer-writer.ts';
import { createDirectWrites } from './direct-write.ts';

const MIB = 1024 * 1024;

describe('writing past the stream', () => {
  test("bytes that the system accepts are sent at once, in order with the stream's", async (t) => {
    const { server, client, outlet, concluded } = await connectPair(t);
    assert.ok(outlet.send(Buffer.from('1'), []));
    server.write('2');
    assert.ok(outlet.send(Buffer.from('3'), [Buffer.from('4'), Buffer.from('5')]));
    assert.equal(server.bytesWritten, 5);
    server.cork();
    server.write('6');
    assert.equal(outlet.send(Buffer.from('7'), []), false);
    server.uncork();
    server.end('8');
    assert.equal((await readAll(client)).toString(), '12345678');
    assert.deepEqual(concluded, ['out']);
  });

  for (const pieces of [1, 3]) {
    test(`bytes that the system refuses wait in the stream, as a write of its own: ${pieces}`, async (t) => {
      const { server, client, outlet, concluded } = await connectPair(t);
      const sent = Array.from({ length: pieces }, (_, i) => Buffer.alloc(24 * MIB, String(i)));
      const [first = Buffer.alloc(0), ...rest] = sent;
      const bytes = pieces * 24 * MIB;
      assert.equal(outlet.send(first, rest), false);
      assert.equal(server.writableLength, bytes);
      assert.ok(server.writableNeedDrain);
      assert.equal(outlet.send(Buffer.from('behind'), []), false);
      assert.deepEqual(concluded, []);
      const drained = once(server, 'drain');
      const read = readAll(client);
      await drained;
      assert.deepEqual(concluded, ['out', 'out']);
      assert.equal(server.bytesWritten, bytes + 6);
      assert.ok(outlet.send(Buffer.from('!'), []));
      server.end();
      assert.ok((await read).equals(Buffer.concat([...sent, Buffer.from('behind!')])));
    });
  }

  test('a client that has gone is noticed by the stream, and by all that wait', async (t) => {
    const { server, client, outlet, concluded } = await connectPair(t);
    assert.equal(outlet.send(Buffer.alloc(24 * MIB), []), false);
    assert.equal(outlet.send(Buffer.from('x'), []), false);
    const closed = new Promise((resolve) => server.once('close', resolve));
    client.resetAndDestroy();
    await closed;
    while (concluded.length < 2) await turn();
    assert.deepEqual(concluded, ['cut', 'cut']);
    assert.equal(outlet.send(Buffer.from('x'), []), false);
  });
});

async function connectPair(t: TestContext) {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const client = connect({ port, host: '127.0.0.1' });
  const [server]: Socket[] = await once(listener, 'connection');
  assert.ok(server !== undefined);
  server.on('error', () => undefined); // shows as closed
  t.after(() => {
    client.destroy();
    server.destroy();
    listener.close();
  });
  const direct = createDirectWrites()(server);
  assert.ok(direct !== undefined);
  const concluded: string[] = [];
  const outlet = new AnswerWriter(server, direct, (error) => {
    concluded.push(error === undefined || error === null ? 'out' : 'cut');
  });
  return { server, client, outlet, concluded };
}

async function readAll(client: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of client) pieces.push(piece);
  return Buffer.concat(pieces);
}
