import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createSharedReading, pause } from './shared-reading.ts';

describe('reading into one buffer', () => {
  test('bytes of all connections arrive in the same buffer, and are kept by a copy', async (t) => {
    const reading = createSharedReading();
    const [one, other] = [await connectPair(t), await connectPair(t)];
    const [oneCame, otherCame] = [read(one.server, reading), read(other.server, reading)];
    one.client.write('hello');
    const first = await oneCame.next();
    const kept = reading.keep(first.bytes);
    assert.equal(first.text, 'hello');
    other.client.write('HALLO');
    assert.equal((await otherCame.next()).text, 'HALLO');
    assert.equal(first.bytes.toString(), 'HALLO');
    assert.equal(kept.toString(), 'hello');
    assert.equal(reading.keep(kept), kept);
    assert.equal(kept.buffer.byteLength, 5);
  });

  test('bytes that are put back, and bytes that arrive while the socket is paused, are emitted as data, in order', async (t) => {
    const reading = createSharedReading();
    const { server, client } = await connectPair(t);
    const came = read(server, reading);
    client.write('1');
    assert.equal((await came.next()).text, '1');
    pause(server);
    server.unshift(Buffer.from('2'));
    client.write('3');
    while (server.readableLength < 2) await turn();
    server.resume();
    client.write('4');
    let text = '';
    while (text.length < 3) text += (await came.next()).text;
    assert.equal(text, '234');
  });

  test('the end of a client is seen while its socket is paused', async (t) => {
    const reading = createSharedReading();
    const { server, client } = await connectPair(t);
    read(server, reading);
    pause(server);
    client.end();
    await once(server, 'end');
  });

  test('a paused socket takes no more than its share, and delivers all of it afterwards', async (t) => {
    const reading = createSharedReading();
    const { server, client } = await connectPair(t);
    const sent = Buffer.alloc(8 * 1024 * 1024, 'x');
    const came = read(server, reading);
    pause(server);
    client.end(sent);
    while (server.readableLength < server.readableHighWaterMark) await turn();
    for (let i = 0; i < 100; i++) await turn();
    assert.ok(server.readableLength <= 2 * server.readableHighWaterMark, `${server.readableLength} bytes`);
    server.resume();
    let bytes = 0;
    while (bytes < sent.length) bytes += (await came.next()).text.length;
  });

  test('bytes after the end of shared reading are emitted as data, and belong to one connection', async (t) => {
    const reading = createSharedReading();
    const { server, client } = await connectPair(t);
    const pieces: Buffer[] = [];
    reading.begin(server, () => assert.fail('given to a reader that has left'));
    server.on('data', (piece: Buffer) => pieces.push(piece));
    reading.end(server);
    for (const text of ['one', 'two']) {
      client.write(text);
      await once(server, 'data');
    }
    assert.deepEqual(pieces.map(String), ['one', 'two']);
  });
});

interface Came {
  readonly bytes: Buffer;
  readonly text: string;
}

/** Bytes received in either way. */
function read(socket: Socket, reading: ReturnType<typeof createSharedReading>) {
  const came: Came[] = [];
  let wake = () => {};
  const take = (bytes: Buffer) => {
    came.push({ bytes, text: bytes.toString() });
    wake();
  };
  socket.on('data', take);
  assert.ok(reading.begin(socket, take));
  return {
    async next(): Promise<Came> {
      for (;;) {
        const first = came.shift();
        if (first !== undefined) return first;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

async function connectPair(t: TestContext): Promise<{ readonly server: Socket; readonly client: Socket }> {
  const listener = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const client = connect({ port, host: '127.0.0.1' });
  const [server] = await once(listener, 'connection');
  t.after(() => {
    client.destroy();
    server.destroy();
    listener.close();
  });
  return { server, client };
}
