import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { eventually } from '../../test/support/eventually.ts';
import { ByteConversation, type ConversationOwner } from './byte-conversation.ts';
import { createSharedReading } from './node-internals/shared-reading.ts';

/**
 * A line protocol: `?` is answered at once; `=` too, but as a request that might have waited; `+` when the test says
 * so; `!` is the last request; other lines are handed over.
 */
class Lines implements ConversationOwner {
  readonly conversation: ByteConversation;
  readonly socket: Socket;
  readonly events: string[] = [];
  isClosing = false;
  /** Deepest nesting of `read` calls. */
  depth = 0;
  #depth = 0;
  onLine: (() => void) | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    this.conversation = new ByteConversation(socket, this, {
      reading: createSharedReading(),
      answersInTurn: 2,
      patienceMs: 2_000,
      lingerMs: 1_000,
      endIdleMs: 0,
      isClosing: () => this.isClosing,
    });
  }

  read(all: Buffer): void {
    this.#depth += 1;
    this.depth = Math.max(this.depth, this.#depth);
    this.#readLines(all);
    this.#depth -= 1;
  }

  #readLines(all: Buffer): void {
    let bytes = all;
    for (;;) {
      const line = bytes.toString('latin1', 0, 2);
      const isWhole = line.length === 2;
      if (!isWhole || !'?=+!'.includes(line.charAt(0)))
        return void this.conversation.keepPartial(bytes, '?=+!'.includes(line.charAt(0)));
      this.events.push(line.charAt(0));
      this.onLine?.();
      bytes = bytes.subarray(2);
      if (line === '+\n') return void this.conversation.begin(bytes);
      this.socket.write(line);
      if (line === '=\n') {
        this.conversation.begin(bytes);
        return void this.conversation.next();
      }
      if (line === '!\n') return void this.conversation.endBehindAnswer();
      if (this.conversation.endsTurn()) return void this.conversation.pause(bytes);
      if (bytes.length === 0) return void this.conversation.wait();
    }
  }

  answer(): void {
    this.socket.write('+\n');
    this.conversation.next();
  }

  onPartialEnded(): void {
    this.events.push('partial');
    this.conversation.end();
  }

  onHalfClosed(): void {
    this.events.push('half-closed');
  }

  onQuiet(quietMs: number): void {
    this.events.push(`quiet ${quietMs}`);
  }

  onHandedOver(rest: Buffer): void {
    this.events.push(`handed over ${JSON.stringify(rest.toString())}`);
    this.socket.destroy();
  }

  onLost(rest: Buffer): void {
    this.events.push(`lost ${JSON.stringify(rest.toString())}`);
  }

  onClosed(): void {
    this.events.push('closed');
  }
}

async function open(t: TestContext): Promise<{ readonly client: Socket; readonly lines: Lines }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  const [socket] = (await accepted) as [Socket]; // of that event
  t.after(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  client.setNoDelay().on('error', () => undefined);
  socket.on('error', () => undefined);
  return { client, lines: new Lines(socket) };
}

async function hasEvents(lines: Lines, expected: readonly string[]): Promise<void> {
  await eventually(expected.join(), () => lines.events.length >= expected.length);
  assert.deepEqual(lines.events, expected);
}

async function send(client: Socket, lines: Lines, bytes: string): Promise<void> {
  const before = lines.socket.bytesRead;
  client.write(bytes);
  await eventually('read', () => lines.socket.bytesRead === before + bytes.length);
}

describe('a conversation of requests in order', () => {
  test('requests that arrive during an answer wait for it, in order', async (t) => {
    const { client, lines } = await open(t);
    await send(client, lines, '?\n+\n?\n');
    await send(client, lines, '?\n');
    await send(client, lines, '!\n');
    await hasEvents(lines, ['?', '+']);
    lines.answer();
    assert.equal(await text(client.end()), '?\n+\n?\n?\n!\n');
  });

  test('a request whose answer is ready before it was read to its end is not read on top of by the next', async (t) => {
    const { client, lines } = await open(t);
    client.write('=\n'.repeat(9));
    await eventually('answered', () => lines.events.length === 9);
    client.write('!\n');
    assert.equal(await text(client.end()), `${'=\n'.repeat(9)}!\n`);
    assert.equal(lines.depth, 1);
  });

  test('other connections have their turn after the answers of one turn', async (t) => {
    const { client, lines } = await open(t);
    lines.onLine = () => {
      lines.onLine = undefined;
      setImmediate(() => lines.events.push('others'));
    };
    client.write('?\n?\n?\n');
    await hasEvents(lines, ['?', '?', 'others', '?']);
  });

  for (const [name, pieces, expected] of [
    ['a request that is not ours', ['?\nX-'], ['?', 'handed over "X-"', 'closed']],
    ['what follows it is not ours', ['+\nX\n'], ['+', 'handed over "X\\n"', 'closed']],
  ] as const)
    test(`node:http gets the connection with all bytes: ${name}`, async (t) => {
      const { client, lines } = await open(t);
      for (const piece of pieces) await send(client, lines, piece);
      if (expected[0] === '+') lines.answer();
      await eventually('handed over', () => lines.events.length >= 2);
      assert.deepEqual(lines.events, expected.slice(0, 2));
    });

  test('an incomplete request is handed over when its time is up, and not before', async (t) => {
    const { client, lines } = await open(t);
    await send(client, lines, '+');
    lines.conversation.sweep(1_000);
    lines.conversation.sweep(1_000);
    assert.deepEqual(lines.events, []);
    lines.conversation.sweep(1_000);
    assert.deepEqual(lines.events, ['handed over "+"']);
  });

  test('quiet time is counted between requests only, and begins anew with each', async (t) => {
    const { client, lines } = await open(t);
    lines.conversation.sweep(500);
    lines.conversation.sweep(500);
    await send(client, lines, '+\n');
    lines.conversation.sweep(500);
    lines.answer();
    lines.conversation.sweep(500);
    assert.deepEqual(lines.events, ['quiet 0', 'quiet 500', '+', 'quiet 0']);
  });

  test('a client that ends its side gets its answers; half a request ends the connection', async (t) => {
    const { client, lines } = await open(t);
    await send(client, lines, '+\n?\n+');
    client.end();
    await hasEvents(lines, ['+', 'half-closed']);
    lines.answer();
    assert.equal(await text(client), '+\n?\n');
    assert.deepEqual(lines.events.slice(2, 4), ['?', 'partial']);
  });

  test('a client that keeps sending after the last answer is cut when its time is up', async (t) => {
    const { client, lines } = await open(t);
    client.resume();
    client.write('!\n');
    await once(client, 'end');
    await send(client, lines, '?\n');
    lines.conversation.sweep(500);
    lines.conversation.sweep(500);
    assert.equal(lines.socket.destroyed, false);
    lines.conversation.sweep(500);
    await hasEvents(lines, ['!', 'closed']);
  });

  test('requests that were received and not served are lost with the connection', async (t) => {
    const { client, lines } = await open(t);
    await send(client, lines, '+\n?\n');
    client.resetAndDestroy();
    await hasEvents(lines, ['+', 'closed', 'lost "?\\n"']);
  });

  test('no new request is served while the server closes', async (t) => {
    const { client, lines } = await open(t);
    await send(client, lines, '+\n?\n');
    lines.isClosing = true;
    lines.conversation.close();
    lines.answer();
    assert.equal(await text(client.end()), '+\n?\n');
    assert.deepEqual(lines.events.slice(0, 2), ['+', '?']);
  });

  test('a client that takes no answers is not read until it takes them', async (t) => {
    const { client, lines } = await open(t);
    client.pause();
    const large = 'x'.repeat(16 * 1024 * 1024);
    await send(client, lines, '+\n');
    lines.socket.write(large);
    lines.answer();
    client.write('?\n!\n');
    await eventually('received', () => lines.socket.readableLength > 0);
    assert.deepEqual(lines.events, ['+']);
    assert.equal(await text(client.end()), `${large}+\n?\n!\n`);
  });
});
