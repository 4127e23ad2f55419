import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { eventually } from '../../../test/support/eventually.ts';
import { serveInTurn } from './in-turn.ts';

const LIMIT = { timeout: 30_000 };

interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Requests wait until the test answers them. */
async function startServer(t: TestContext) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => void asked.push({ request, response }));
  serveInTurn(server, { ofConnection: 500, inAll: 1_000 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const open = async () => {
    const taken = once(server, 'connection');
    const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true });
    t.after(() => client.destroy());
    const [socket] = (await taken) as [Socket]; // of that event
    return { client: client.setEncoding('utf8'), socket };
  };
  const next = async () => {
    await eventually('a request', () => asked.length > 0, 20_000);
    const one = asked.shift();
    assert.ok(one !== undefined);
    return one;
  };
  return { asked, open, next };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const gets = (count: number) => Array.from({ length: count }, (_, n) => get(`/${n}`)).join('');

describe('requests of one connection to node:http', () => {
  test('requests of one connection are begun one after the other, and answered in order', LIMIT, async (t) => {
    const { asked, open, next } = await startServer(t);
    const { client } = await open();
    const answers = text(client);
    client.write(`${gets(20)}POST /20 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n`);
    client.write(' '.repeat(200_000));
    for (let n = 0; n <= 20; n += 1) {
      const { request, response } = await next();
      assert.equal(request.url, `/${n}`);
      for (let turns = 0; turns < 5; turns += 1) await setImmediate();
      assert.equal(asked.length, 0, 'one at a time');
      response.end(`<${n} ${(await text(request)).length}>`);
    }
    const bodies = (await answers).match(/<\d+ \d+>/g);
    assert.deepEqual(
      bodies,
      Array.from({ length: 21 }, (_, n) => `<${n} ${n === 20 ? 200_000 : 0}>`),
    );
  });

  test('requests of one connection are not read while some wait', LIMIT, async (t) => {
    const { open, next } = await startServer(t);
    const { client, socket } = await open();
    client.resume();
    const large = get(`/${'x'.repeat(1_000)}`);
    const count = 20_000; // more than what the system keeps for a connection
    client.write(large.repeat(count));
    const first = await next();
    for (let turns = 0; turns < 200; turns += 1) await setImmediate();
    assert.ok(socket.bytesRead < 256 * 1024, String(socket.bytesRead));
    first.response.end();
    for (let n = 1; n < 70; n += 1) (await next()).response.end();
  });

  test('requests of one connection are not begun after the last one, or when the client has left', LIMIT, async (t) => {
    const { asked, open, next } = await startServer(t);
    for (const leave of [true, false]) {
      const { client, socket } = await open();
      client.on('error', () => undefined).resume();
      client.write(gets(10));
      const { response } = await next();
      if (leave) client.resetAndDestroy();
      else response.shouldKeepAlive = false;
      response.end();
      await eventually('the end', () => socket.closed, 20_000);
      for (let turns = 0; turns < 5; turns += 1) await setImmediate();
      assert.equal(asked.length, 0);
    }
  });

  test('waiting requests are bounded for each connection, and for all together', LIMIT, async (t) => {
    const { asked, open } = await startServer(t);
    for (let round = 0; round < 2; round += 1) {
      const one = await open();
      one.client.on('error', () => undefined).write(gets(502));
      await eventually('the end', () => one.socket.closed, 20_000);
      const others = [await open(), await open(), await open()];
      for (const { client } of others) client.on('error', () => undefined).write(gets(400));
      await eventually('one end', () => others.filter(({ socket }) => socket.closed).length === 1, 20_000);
      await eventually('the first requests', () => asked.length === 4, 20_000);
      for (const { client, socket } of others) {
        client.resetAndDestroy();
        await eventually('requests that wait no more', () => endsWith(asked.splice(0), socket), 20_000);
      }
    }
  });
});

/** A connection that is not read shows that it is gone when an answer goes out. */
function endsWith(asked: readonly Asked[], socket: Socket): boolean {
  for (const { response } of asked) response.end();
  return socket.closed;
}
