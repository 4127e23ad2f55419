/**
 * One connection: the header of a trusted proxy, the TLS handshake, then the session. Counted as waiting until it
 * publishes or plays.
 */
import type { Socket } from 'node:net';
import { type AddressSet, clientNetwork, unmapAddress } from '#lib/cidr.ts';
import type { Logger } from '#lib/logger.ts';
import { receiveProxyHeader } from '#lib/proxy-header.ts';
import { resetSocket } from '#lib/reset-socket.ts';
import type { Timers } from '#lib/timers.ts';
import type { RareLines } from '../rare-lines.ts';
import type { RtmpHooks } from './conversation.ts';
import type { ConnectionEnd } from './ends.ts';
import type { RtmpLimits } from './limits.ts';
import { type RtmpRole, RtmpSession } from './session.ts';
import { SocketOutput } from './socket-output.ts';
import type { TlsStart } from './tls.ts';
import type { Waiting } from './waiting.ts';

/** Everything that the connections of a server share. */
export interface ConnectionParts {
  readonly hooks: RtmpHooks;
  readonly limits: RtmpLimits;
  readonly timers: Timers;
  readonly log: Logger;
  readonly rareLines: RareLines;
  readonly randomBytes: (size: number) => Buffer;
  readonly waiting: Waiting<RtmpServerConnection>;
  /** Peers whose connections begin with a PROXY protocol header. */
  readonly trusted: AddressSet;
  readonly onEnd: (end: ConnectionEnd) => void;
}

export class RtmpServerConnection {
  readonly #raw: Socket;
  /** TLS over `#raw`, or `#raw` itself. */
  #socket: Socket;
  readonly #parts: ConnectionParts;
  readonly #startTls: TlsStart | undefined;
  readonly #startedAt: number;
  #role: RtmpRole = 'waiting';
  #session: RtmpSession | undefined;
  #clientAddress: string;
  #hasEnded = false;

  /** `startTls` is `undefined` for plain RTMP. */
  constructor(raw: Socket, parts: ConnectionParts, startTls: TlsStart | undefined) {
    this.#raw = raw;
    this.#socket = raw;
    this.#parts = parts;
    this.#startTls = startTls;
    this.#clientAddress = unmapAddress(raw.remoteAddress ?? '');
    this.#startedAt = parts.timers.now();
  }

  get role(): RtmpRole {
    return this.#role;
  }

  begin(): void {
    const { trusted, limits } = this.#parts;
    this.#raw.on('error', ignore);
    this.#raw.once('close', () => this.#noteEnd('clientLeft', 'the connection closed'));
    // The client closed the connection before it was accepted, so its address is unknown.
    if (this.#clientAddress === '') return void this.#raw.destroy();
    if (!trusted.has(this.#clientAddress)) return void this.#beginClient();
    this.#wait(undefined);
    receiveProxyHeader(this.#raw, limits.handshakeMs, (outcome) => {
      if (outcome.kind === 'failed') this.#noteEnd('proxyHeader', outcome.failure);
      if (outcome.kind !== 'header') return;
      // A load balancer's own connection, such as a health check, has no other client.
      this.#clientAddress = outcome.client ?? this.#clientAddress;
      this.#beginClient();
      if (this.#startTls === undefined) this.#raw.resume();
    });
  }

  /** Closes the connection; resets it if it is closing already. */
  end(end: ConnectionEnd, detail: string): void {
    if (this.#hasEnded) return void resetSocket(this.#socket, this.#raw);
    if (this.#session !== undefined) return void this.#session.end(end, detail);
    this.#noteEnd(end, detail);
    this.#raw.destroy();
  }

  #beginClient(): void {
    this.#wait(clientNetwork(this.#clientAddress));
    if (this.#hasEnded) return;
    if (this.#startTls === undefined) this.#beginSession(this.#raw, false);
    else this.#beginTls(this.#startTls);
  }

  #wait(network: string | undefined): void {
    this.#parts.waiting.enter(this, network)?.end('crowded', 'too many connections wait');
  }

  #beginTls(startTls: TlsStart): void {
    const { timers, limits } = this.#parts;
    const socket = startTls(this.#raw);
    const cancel = timers.after(limits.handshakeMs, () => this.end('handshakeTimeout', 'no handshake of TLS in time'));
    this.#raw.once('close', () => {
      cancel();
      socket.destroy();
    });
    socket.on('error', (error) => {
      if (this.#session === undefined) this.end('tlsFailed', error.message);
    });
    socket.once('secure', () => {
      cancel();
      if (!this.#hasEnded) this.#beginSession(socket, true);
    });
  }

  #beginSession(socket: Socket, isTls: boolean): void {
    const { limits, timers } = this.#parts;
    // The TLS and RTMP handshakes share one time limit.
    const elapsedMs = timers.now() - this.#startedAt;
    const session = new RtmpSession({
      ...this.#parts,
      client: { clientAddress: this.#clientAddress, isTls },
      limits: { ...limits, handshakeMs: Math.max(0, limits.handshakeMs - elapsedMs) },
      output: new SocketOutput(socket, this.#raw, timers),
      onRole: (role) => this.#setRole(role),
      onEnd: (end, detail) => this.#noteEnd(end, detail),
    });
    this.#session = session;
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => session.receive(bytes));
    socket.once('end', () => session.leave('the client closed its side'));
    socket.on('error', (error) => session.leave(error.message));
    socket.once('close', () => session.leave('the connection closed'));
  }

  #setRole(role: RtmpRole): void {
    this.#role = role;
    if (role === 'waiting') this.#wait(clientNetwork(this.#clientAddress));
    else this.#parts.waiting.leave(this);
  }

  #noteEnd(end: ConnectionEnd, detail: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { waiting, onEnd, log, rareLines } = this.#parts;
    waiting.leave(this);
    onEnd(end);
    const fields = { client: this.#clientAddress, role: this.#role, end, detail };
    if (end === 'failed') log.error(fields, 'RTMP connection ended');
    // Publishers are few. Strangers could cause any number of the other lines.
    else if (this.#role === 'publishing') log.info(fields, 'RTMP connection ended');
    else if (end === 'refused') rareLines.info(undefined, fields, 'RTMP connection refused');
    else if (this.#role === 'playing') rareLines.info(undefined, fields, 'RTMP player ended');
    else log.debug(fields, 'RTMP connection ended');
  }
}

function ignore(): void {} // 'close' follows
