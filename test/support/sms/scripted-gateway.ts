/** A gateway of CMPP, SMGP or SGIP over sockets that does what a test says. It closes with the test. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { eventually } from '../eventually.ts';
import {
  type GatewayKind,
  type PhoneMessage,
  PROTOCOLS,
  packet,
  type ReadSubmit,
  type Report,
  text,
  u8,
} from './gateway-protocols.ts';

/**
 * What becomes of a submit: taken, and a report follows; taken without a report; refused with that result; no answer; a report and
 * no answer; the connection dropped; or these octets, then taken.
 */
export type GatewayAnswer = 'ok' | 'quiet' | number | 'silence' | 'report only' | 'drop' | { readonly before: Buffer };

export interface GatewayOptions {
  readonly kind: GatewayKind;
  readonly password?: string;
  /** What becomes of each submit, in order; then `ok`. */
  readonly answers?: readonly GatewayAnswer[];
  /** Answers none before so many submits are there. */
  readonly together?: number;
  /** SGIP: where reports and replies are brought to. Absent: over the connection of the submits. */
  readonly listener?: number;
}

export class ScriptedGateway {
  readonly submits: ReadSubmit[] = [];
  /** Answers to what was delivered. */
  readonly delivered: { readonly id: number; readonly sequence: string; readonly body: Buffer }[] = [];
  /** Statuses of the logins of the customer. */
  readonly logins: number[] = [];
  /** SGIP: results of our binds; -1: the connection was closed. */
  readonly dialled: number[] = [];
  readonly byes: number[] = [];
  readonly options: GatewayOptions;
  readonly #sockets = new Set<Socket>();
  readonly #held: (() => void)[] = [];
  #count = 0;
  #isClosed = false;
  #server = createServer((socket) => this.#serve(socket));

  constructor(options: GatewayOptions) {
    this.options = options;
  }

  get #protocol() {
    return PROTOCOLS[this.options.kind];
  }

  get password(): string {
    return this.options.password ?? 'secret';
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get accepted(): number {
    return this.logins.filter((status) => status === 0).length;
  }

  /** Connections of the customer that stand. */
  get sessions(): number {
    return this.#sockets.size;
  }

  async listen(t: Pick<TestContext, 'after'>): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    t.after(() => {
      this.#isClosed = true;
      this.#server.close();
      this.drop();
    });
    return this;
  }

  deliver(message: PhoneMessage): Promise<void> {
    return this.bring(this.#protocol.deliver(this.#next(), message));
  }

  report(report: Report): Promise<void> {
    return this.bring(this.#protocol.report(this.#next(), report));
  }

  /** Sends octets to every connection. */
  poison(octets: Buffer): void {
    for (const socket of this.#sockets) socket.write(octets);
  }

  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Brings a request to the listener, once it lets us in, or over the connections that stand. */
  async bring(octets: Buffer): Promise<void> {
    const { listener } = this.options;
    if (listener === undefined) this.poison(octets);
    else
      await eventually('the listener lets us in', async () => {
        return this.#isClosed || (await this.dial(listener, octets)) === 0;
      });
  }

  /**
   * SGIP: connects, binds with the gateway's name and password, sends, and unbinds when all is answered. Returns the result of the
   * bind.
   */
  async dial(
    port: number,
    octets: Buffer,
    { type = 2, password = this.password, name = 'gateway' } = {},
  ): Promise<number> {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    const frames = framesOf(socket);
    socket.write(packet(1, this.#next(), u8(type), text(name, 16), text(password, 16), Buffer.alloc(8)));
    const result = (await frames.next())?.readUInt8(20) ?? -1;
    this.dialled.push(result);
    if (result !== 0) return result;
    socket.write(octets);
    const answer = await frames.next();
    if (answer !== undefined) this.#note(answer);
    socket.end(packet(2, this.#next()));
    await frames.next();
    socket.destroy();
    return result;
  }

  #next(): Buffer {
    this.#count += 1;
    return this.#protocol.sequence(this.#count);
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket)).on('error', () => {});
    const frames = framesOf(socket);
    void (async () => {
      for (let frame = await frames.next(); frame !== undefined; frame = await frames.next()) this.#take(socket, frame);
    })();
  }

  #take(socket: Socket, frame: Buffer): void {
    const { ids, loginAnswer, login, headerOctets } = this.#protocol;
    const id = frame.readUInt32BE(4);
    if (id === ids.login) {
      const status = login(frame, this.password);
      this.logins.push(status);
      socket.write(loginAnswer(frame, status, this.password));
      if (status !== 0) socket.end();
    } else if (id === ids.submit) this.#submit(socket, this.#protocol.readSubmit(frame));
    else if (id === ids.alive) socket.write(bare(frame, headerOctets, this.options.kind.startsWith('cmpp')));
    else if (id === ids.bye) {
      this.byes.push(id);
      socket.end(bare(frame, headerOctets, false));
    } else if (id >= 0x80000000) this.#note(frame);
  }

  #note(frame: Buffer): void {
    const { headerOctets } = this.#protocol;
    const sequence = frame.toString('hex', 8, headerOctets);
    this.delivered.push({ id: frame.readUInt32BE(4), sequence, body: frame.subarray(headerOctets) });
  }

  #submit(socket: Socket, submit: ReadSubmit): void {
    const n = this.submits.push(submit);
    const answer = this.options.answers?.[n - 1] ?? 'ok';
    this.#held.push(() => this.#answer(socket, submit, n, answer));
    if (this.submits.length < (this.options.together ?? 0)) return;
    for (const act of this.#held.splice(0)) act();
  }

  #answer(socket: Socket, submit: ReadSubmit, n: number, answer: GatewayAnswer): void {
    const { idOf, submitAnswer } = this.#protocol;
    const id = idOf(submit, n);
    const number = submit.number;
    if (answer === 'drop') socket.destroy();
    else if (typeof answer === 'number') socket.write(submitAnswer(submit, id, answer));
    else if (answer === 'report only') void this.report({ id, number });
    else if (answer !== 'silence') {
      const taken = submitAnswer(submit, id, 0);
      socket.write(typeof answer === 'object' ? Buffer.concat([answer.before, taken]) : taken);
      if (answer === 'ok') void this.report({ id, number });
    }
  }
}

/** Answer to a request without a body; CMPP's active test has a reserved octet. */
function bare(frame: Buffer, headerOctets: number, hasOctet: boolean): Buffer {
  const octets = Buffer.concat([frame.subarray(0, headerOctets), hasOctet ? u8(0) : u8()]);
  octets.writeUInt32BE(octets.length, 0);
  octets.writeUInt32BE(frame.readUInt32BE(4) + 0x80000000, 4);
  return octets;
}

/** The PDUs that come over a socket; `undefined` when it has ended. */
function framesOf(socket: Socket): { next(): Promise<Buffer | undefined> } {
  const frames = cut(socket);
  return { next: async () => (await frames.next()).value ?? undefined };
}

async function* cut(socket: Socket): AsyncGenerator<Buffer, undefined> {
  let held: Buffer = Buffer.alloc(0);
  try {
    for await (const octets of socket) {
      held = Buffer.concat([held, octets as Buffer]);
      while (held.length >= 4 && held.length >= held.readUInt32BE(0)) {
        const length = held.readUInt32BE(0);
        yield held.subarray(0, length);
        held = held.subarray(length);
      }
    }
  } catch {
    // The connection was dropped.
  }
  return undefined;
}
