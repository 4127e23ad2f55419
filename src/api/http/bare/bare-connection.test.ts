import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createLogger } from '#lib/logger.ts';
import { createDirectWrites } from '#lib/node-internals/direct-write.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { answerHealthy, type CallAnswer } from '../../call-answer.ts';
import type { ReceivedCall } from '../../calls/calls.ts';
import { createRequesters } from '../../calls/requester.ts';
import { createParseBody } from '../body.ts';
import { answerBrokenRequest } from '../broken-request.ts';
import { HeldBytes } from '../held-bytes.ts';
import { MAX_HELD } from '../limits.ts';
import type { AnsweredRequest } from '../request-log.ts';
import { BareConnection } from './bare-connection.ts';
import { conversationOptions, readBare } from './bare-connections.ts';
import { createFormatAnswer } from './write-answer.ts';

const CALL =
  'POST /domain/addDomain HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

interface World {
  readonly server: Server;
  readonly parts: Parameters<typeof readBare>[1];
  /** Calls that came and have no answer yet, with what answers each. */
  readonly asked: { readonly call: ReceivedCall; readonly answer: (answer: CallAnswer) => void }[];
  readonly logged: AnsweredRequest[];
  readonly broken: string[];
  /** Our sides of connections. */
  readonly accepted: readonly Socket[];
  open(): Promise<Socket>;
  /** Our side of a connection has read this much. */
  hasRead(bytes: number): Promise<void>;
}

/** Calls wait until the test answers them; node:http says "node" to the rest. */
async function startWorld(t: TestContext): Promise<World> {
  const server = createServer((request, response) => response.end(`node ${request.method}`));
  const asked: World['asked'] = [];
  const logged: AnsweredRequest[] = [];
  const broken: string[] = [];
  const parts: World['parts'] = {
    requesters: createRequesters({ trustedProxies: [], locale: 'en', onUntrustedProxy: () => {} }),
    answerCall: (call) => new Promise((answer) => asked.push({ call, answer })),
    parseBody: createParseBody(),
    held: new HeldBytes(MAX_HELD),
    formatAnswer: createFormatAnswer({}, () => 0),
    writeRequestLog: (request) => void logged.push(request),
    answerBroken: answerBrokenRequest('en', ({ outcome }) => void broken.push(outcome)),
    log: createLogger({ level: 'error', name: 'test', destination: { write: assert.fail } }),
  };
  const accepted: Socket[] = [];
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of accepted) socket.destroy(); // also where a call has no answer
    server.close();
  });
  const open = async () => {
    const taken = once(server, 'connection');
    const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    accepted.push(...((await taken) as Socket[])); // of that event
    t.after(() => socket.destroy());
    return socket.setEncoding('utf8');
  };
  const hasRead = (bytes: number) => until(() => accepted.some(({ bytesRead }) => bytesRead === bytes));
  return { server, parts, asked, logged, broken, accepted, open, hasRead };
}

async function until(probe: () => boolean): Promise<void> {
  await eventually(String(probe), probe, 20_000);
}

/** What the n-th call gets: its own name. */
function healthy(n: number): CallAnswer {
  return { ...answerHealthy(), headers: { 'x-n': String(n) } };
}

const LIMIT = { timeout: 30_000 };

describe('connections of the call reader', () => {
  test(
    'a connection answers in order, one call at a time, and hands other requests to node:http after them',
    LIMIT,
    async (t) => {
      const { server, parts, asked, open, logged } = await startWorld(t);
      readBare(server, parts);
      const socket = await open();
      const answers = text(socket);
      socket.write(CALL + CALL + CALL + GET);
      for (const n of [1, 2, 3]) {
        await until(() => asked.length > 0);
        assert.equal(asked.length, 1, 'one at a time');
        asked.shift()?.answer(healthy(n));
      }
      const order = [...(await answers).matchAll(/x-n: (\d)|node GET/g)].map(([all, n]) => n ?? all);
      assert.deepEqual(order, ['1', '2', '3', 'node GET']);
      assert.equal(logged.length, 3);
    },
  );

  test('a connection skips an empty line, which some clients send after a body', LIMIT, async (t) => {
    const { server, parts, asked, open } = await startWorld(t);
    readBare(server, parts);
    const socket = await open();
    const answers = text(socket);
    socket.write(`${CALL}\r\n`);
    for (const n of [1, 2, 3]) {
      await until(() => asked.length > 0);
      asked.shift()?.answer(healthy(n));
      if (n === 1) socket.write(`${CALL}\r\n\r\n${CALL}\r\n`);
    }
    socket.write(`\r\n${GET}`);
    assert.match(await answers, /x-n: 1.*x-n: 2.*x-n: 3.*node GET/s);
  });

  test('a call of a client that left while it was identified is not made', LIMIT, async (t) => {
    const { server, parts } = await startWorld(t);
    readBare(server, parts);
    const socket = new Socket(); // as one that was reset, it has no address
    server.emit('connection', socket);
    assert.ok(socket.destroyed);
  });

  test('a connection ends with the last call, and forgets later bytes', LIMIT, async (t) => {
    const { server, parts, asked, open } = await startWorld(t);
    readBare(server, parts);
    const socket = await open();
    const answers = text(socket);
    socket.write(CALL.replace('Host', 'Connection: close\r\nHost') + CALL);
    await until(() => asked.length > 0);
    asked.shift()?.answer(healthy(1));
    assert.match(await answers, /^HTTP\/1\.1 200 OK.*\r\nConnection: close\r\n\r\n\{[^}]*\}\}$/s);
    assert.equal(asked.length, 0);
  });

  test('a connection answers a client that has ended its side', LIMIT, async (t) => {
    const { server, parts, asked, open, broken } = await startWorld(t);
    readBare(server, parts);
    const socket = await open();
    const answers = text(socket);
    socket.end(CALL + CALL + CALL.slice(0, -1));
    for (const n of [1, 2]) {
      await until(() => asked.length > 0);
      asked.shift()?.answer(healthy(n));
    }
    assert.match(await answers, /x-n: 1.*x-n: 2.*HTTP\/1\.1 400 .*requestMalformed/s);
    assert.deepEqual(broken, ['requestMalformed']);
    const other = await open();
    other.end(CALL + GET);
    await until(() => asked.length > 0);
    for (let turns = 0; turns < 20; turns += 1) await setImmediate();
    asked.shift()?.answer(healthy(3));
    assert.match(await text(other), /x-n: 3.*node GET/s);
  });

  test('a connection logs the call of a client that leaves', LIMIT, async (t) => {
    const { server, parts, asked, open, logged, accepted } = await startWorld(t);
    readBare(server, parts);
    const socket = await open();
    socket.write(CALL + CALL);
    await until(() => asked.length > 0);
    socket.resetAndDestroy();
    await until(() => accepted.every(({ closed }) => closed));
    asked.shift()?.answer(healthy(1));
    await until(() => logged.length > 0);
    await setImmediate();
    assert.deepEqual([logged.length, asked.length], [1, 0], 'the second is not begun');
  });

  test('a connection begins no call while its client reads no answers', LIMIT, async (t) => {
    const { server, parts, asked, open, logged } = await startWorld(t);
    readBare(server, parts);
    const socket = await open();
    socket.pause();
    const large: CallAnswer = { ...answerHealthy(), body: { status: 1, info: 'x'.repeat(32 * 2 ** 20), data: {} } };
    socket.write(CALL + CALL);
    await until(() => asked.length > 0);
    asked.shift()?.answer(large);
    for (let turns = 0; turns < 50; turns += 1) await setImmediate();
    assert.deepEqual([asked.length, logged.length], [0, 0]);
    socket.resume();
    await until(() => asked.length > 0);
    assert.equal(logged.length, 1);
  });

  test(
    'a connection ends with the service at once, or with its answer, or goes to node:http with half a call',
    LIMIT,
    async (t) => {
      const { server, parts, asked, open, hasRead } = await startWorld(t);
      const bare = readBare(server, parts);
      const [idle, busy, half, used] = [await open(), await open(), await open(), await open()];
      const answers = [idle, busy, half, used].map((socket) => text(socket));
      used.write(CALL);
      await until(() => asked.length > 0);
      asked.shift()?.answer(healthy(1));
      busy.write(CALL + CALL);
      const seen = once(server, 'request');
      half.write(CALL.slice(0, -1));
      await hasRead(CALL.length - 1);
      await until(() => asked.length > 0);
      bare.close();
      assert.equal(await answers[0], '');
      assert.match((await answers[3]) ?? '', /x-n: 1.*\r\nConnection: keep-alive/s);
      asked.shift()?.answer(healthy(2));
      assert.match((await answers[1]) ?? '', /x-n: 2.*\r\nConnection: close\r\n\r\n[^\r]*$/s);
      half.end('}');
      await seen;
      assert.match((await answers[2]) ?? '', /node POST/);
      const late = await open();
      late.end(GET);
      assert.match(await text(late), /node GET/, 'what comes until nothing listens is node:http’s');
    },
  );

  test('a connection that sends more than may wait is cut', LIMIT, async (t) => {
    const { server, parts, asked, open } = await startWorld(t);
    const bare = readBare(server, parts);
    const socket = await open();
    socket.write(CALL);
    await until(() => asked.length > 0);
    bare.cutAll();
    assert.equal(await text(socket), '');
  });

  test("connections hold a bounded number of unfinished calls: beyond that they are node:http's", LIMIT, async (t) => {
    const { server, parts, accepted, open, hasRead } = await startWorld(t);
    readBare(server, { ...parts, held: new HeldBytes({ inAllBytes: 2_000, freeBytes: 100 }) });
    const begun = (bytes: number) => CALL.replace('Length: 2', 'Length: 9999').replace('{}', '').padEnd(bytes, ' ');
    const given: string[] = [];
    server.on('request', ({ headers }) => given.push(headers['content-length'] ?? ''));
    const first = await open();
    first.write(begun(1_500));
    await hasRead(1_500);
    assert.deepEqual(given, []);
    const second = await open();
    second.write(begun(600));
    await until(() => given.length === 1);
    first.destroy();
    second.destroy();
    await until(() => accepted.every(({ closed }) => closed));
    const third = await open();
    third.write(begun(1_900));
    await hasRead(1_900);
    assert.equal(given.length, 1, 'what has left holds nothing');
  });

  test(
    'a connection waits 30 s for a first call, 65 s for the next, and a second for the rest of one',
    LIMIT,
    async (t) => {
      const { server, parts, asked, open, hasRead, broken } = await startWorld(t);
      const given: { readonly socket: Socket; readonly rest: Buffer }[] = [];
      const taken: BareConnection[] = [];
      const shared = {
        ...parts,
        conversation: conversationOptions(() => false),
        openDirectWrite: createDirectWrites(),
        giveAway: (socket: Socket, rest: Buffer) => given.push({ socket, rest }),
        onLeft: () => undefined,
      };
      server.removeAllListeners('connection');
      server.on('connection', (socket: Socket) => taken.push(new BareConnection(socket, shared)));
      const connection = async () => {
        const socket = await open();
        await until(() => taken.length > 0);
        const [one] = taken.splice(0);
        assert.ok(one !== undefined);
        return { socket, sweep: (times: number) => Array.from({ length: times }, () => one.sweep(1_000)) };
      };
      const silent = await connection();
      silent.sweep(30);
      assert.deepEqual(broken, []);
      silent.sweep(1);
      assert.match(await text(silent.socket), /^HTTP\/1\.1 408 .*requestTimeout/s);
      const used = await connection();
      used.socket.write(CALL);
      await until(() => asked.length > 0);
      used.sweep(100);
      asked.shift()?.answer(healthy(1));
      await once(used.socket, 'data');
      used.sweep(65);
      assert.equal(used.socket.readyState, 'open');
      used.sweep(1);
      await once(used.socket, 'end');
      const slow = await connection();
      slow.socket.write(CALL.slice(0, 20));
      await hasRead(20);
      slow.sweep(1);
      assert.equal(given.length, 0);
      slow.sweep(1);
      assert.equal(given[0]?.rest.toString(), CALL.slice(0, 20));
      given[0]?.socket.destroy();
    },
  );
});
