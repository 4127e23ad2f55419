/** The embedded name server: one UDP socket and a TCP listener on one address. docs/decisions/0722 */
import { randomBytes } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { unmapAddress } from '#lib/cidr.ts';
import type { Clock } from '#lib/clock.ts';
import type { ListenAddress } from '#lib/listen-address.ts';
import type { Logger } from '#lib/logger.ts';
import { answerQuery, SERVER_FAILURE, type ZoneView } from './answer.ts';
import { type Cookies, createCookies } from './cookies.ts';
import { parseQuery, type Query, RCODES } from './packet.ts';
import { QueryLimits } from './query-limits.ts';
import { MAX_UDP_BYTES, writeError, writeResponse, writeTruncated } from './response.ts';

export interface AnswererOptions {
  readonly listen: ListenAddress;
  /** What answers are made of at this moment. */
  readonly view: () => ZoneView;
  readonly clock: Clock;
  readonly monotonic: () => number;
  readonly log: Logger;
}

/** Counts since the start. */
export interface AnswerCounts {
  /** Responses by their code. */
  readonly byCode: ReadonlyMap<number, number>;
  /** Responses that asked to come over TCP because of the rate, and queries that were dropped by it. */
  readonly limited: number;
}

export interface Answerer extends AsyncDisposable {
  readonly counts: AnswerCounts;
}

/** Largest message over TCP that is read: a query has one name. */
const MAX_QUERY_BYTES = 4096;
const MAX_TCP_BYTES = 65_535;
const LENGTH_BYTES = 2;
/** Connections at once; the oldest gives way to a new one. */
const MAX_CONNECTIONS = 256;
const IDLE_MS = 5000;
/** Unread responses at which a client is cut. */
const MAX_UNSENT_BYTES = 128 * 1024;
const RECEIVE_BUFFER_BYTES = 1024 * 1024;
/** Shortest interval between two log lines about queries that cannot be answered. */
const FAULT_LOG_MS = 10_000;

/** Throws if the address cannot be listened on. */
export async function startAnswerer(options: AnswererOptions): Promise<Answerer> {
  const answers = new Answers(options);
  const udp = await listenUdp(options, answers);
  try {
    const tcp = await listenTcp(options, answers);
    return {
      counts: answers,
      async [Symbol.asyncDispose]() {
        await Promise.all([tcp[Symbol.asyncDispose](), new Promise<void>((resolve) => udp.close(() => resolve()))]);
      },
    };
  } catch (error) {
    udp.close();
    throw error;
  }
}

class Answers implements AnswerCounts {
  readonly byCode = new Map<number, number>();
  limited = 0;
  readonly #options: AnswererOptions;
  readonly #cookies: Cookies = createCookies(randomBytes(32));
  readonly #limits = new QueryLimits();
  #silentUntil = 0;

  constructor(options: AnswererOptions) {
    this.#options = options;
  }

  /** Returns the response; `undefined`: there is none. */
  overUdp(packet: Buffer, client: string): Buffer | undefined {
    const parsed = parseQuery(packet);
    if (parsed.kind === 'ignored') return undefined;
    const isKnown = parsed.kind === 'query' && this.#isKnown(parsed.query, client);
    const leave = isKnown ? 'answer' : this.#limits.take(client, this.#options.monotonic());
    if (leave !== 'answer') this.limited += 1;
    if (leave === 'drop') return undefined;
    if (parsed.kind === 'bad') return this.#refuse(parsed);
    const { query } = parsed;
    if (leave === 'truncate') return writeTruncated(query, RCODES.noError, this.#cookieFor(query, client));
    return this.#answer(query, client, Math.min(query.edns?.udpBytes ?? 512, MAX_UDP_BYTES));
  }

  /** The client has this address: it has opened a connection. */
  overTcp(packet: Buffer, client: string): Buffer | undefined {
    const parsed = parseQuery(packet);
    if (parsed.kind === 'ignored') return undefined;
    return parsed.kind === 'bad' ? this.#refuse(parsed) : this.#answer(parsed.query, client, MAX_TCP_BYTES);
  }

  #refuse(bad: Parameters<typeof writeError>[0]): Buffer {
    this.#count(bad.rcode);
    return writeError(bad);
  }

  /** The boundary of faults: a query must not end the process, which follows the feed too. */
  #answer(query: Query, client: string, limit: number): Buffer {
    const cookie = this.#cookieFor(query, client);
    try {
      const response = answerQuery(query, client, this.#options.view());
      const written = writeResponse(query, response, limit, cookie);
      this.#count(response.rcode);
      return written;
    } catch (error) {
      this.#noteFault(error, query);
      this.#count(SERVER_FAILURE.rcode);
      return writeResponse(query, SERVER_FAILURE, limit, cookie);
    }
  }

  #noteFault(error: unknown, { name, type }: Query): void {
    const now = this.#options.monotonic();
    if (now < this.#silentUntil) return; // an attacker with such a query sends more of them
    this.#silentUntil = now + FAULT_LOG_MS;
    this.#options.log.error({ err: error, name, type }, 'cannot answer a query');
  }

  #isKnown({ edns }: Query, client: string): boolean {
    return edns?.cookie !== undefined && this.#cookies.isOurs(edns.cookie, client, this.#options.clock());
  }

  #cookieFor({ edns }: Query, client: string): Buffer | undefined {
    return edns?.cookie && this.#cookies.make(edns.cookie, client, this.#options.clock());
  }

  #count(rcode: number): void {
    this.byCode.set(rcode, (this.byCode.get(rcode) ?? 0) + 1);
  }
}

async function listenUdp({ listen, log }: AnswererOptions, answers: Answers): Promise<UdpSocket> {
  const type = listen.host.includes(':') ? 'udp6' : 'udp4';
  const socket = createSocket({ type, recvBufferSize: RECEIVE_BUFFER_BYTES });
  socket.on('message', (packet: Buffer, from: RemoteInfo) => answerDatagram(socket, answers, packet, from));
  socket.bind({ address: listen.host, port: listen.port });
  try {
    await once(socket, 'listening'); // rejects with an error
  } catch (error) {
    socket.close();
    throw error;
  }
  socket.on('error', (error) => log.error({ err: error }, 'the UDP socket of the name server has failed'));
  return socket;
}

/** A response that cannot be sent is a lost packet to the client. */
export function answerDatagram(
  socket: Pick<UdpSocket, 'send'>,
  answers: Pick<Answers, 'overUdp'>,
  packet: Buffer,
  { address, port }: Pick<RemoteInfo, 'address' | 'port'>,
): void {
  if (port === 0) return; // RFC 768: the sender expects no answer; `send` would throw
  const response = answers.overUdp(packet, unmapAddress(address));
  if (response !== undefined) socket.send(response, port, address, () => {});
}

async function listenTcp({ listen, log }: AnswererOptions, answers: Answers): Promise<AsyncDisposable> {
  const open = new Set<Socket>();
  const server: Server = createServer((socket) => {
    open.add(socket);
    const [oldest] = open;
    if (open.size > MAX_CONNECTIONS) oldest?.destroy();
    socket.on('close', () => open.delete(socket));
    converse(socket, answers);
  });
  server.listen({ host: listen.host, port: listen.port });
  await once(server, 'listening'); // rejects with an error
  server.on('error', (error) => log.error({ err: error }, 'the TCP listener of the name server has failed'));
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Answers the messages of a connection, each of which begins with its length (RFC 1035 §4.2.2). */
function converse(socket: Socket, answers: Answers): void {
  const client = unmapAddress(socket.remoteAddress ?? '');
  let received: Buffer = Buffer.alloc(0);
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy()); // the client has gone
  socket.on('end', () => socket.end());
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + received.readUInt16BE(0);
      if (end - LENGTH_BYTES > MAX_QUERY_BYTES || socket.writableLength > MAX_UNSENT_BYTES) return socket.destroy();
      if (received.length < end) break;
      const response = answers.overTcp(received.subarray(LENGTH_BYTES, end), client);
      received = received.subarray(end);
      if (response === undefined) return socket.destroy();
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt16BE(response.length);
      socket.write(Buffer.concat([length, response]));
    }
    return undefined;
  });
}
