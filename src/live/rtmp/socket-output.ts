/** Output of a session to its socket. */
import type { Socket } from 'node:net';
import { resetSocket } from '#lib/reset-socket.ts';
import type { Timers } from '#lib/timers.ts';
import type { SessionOutput } from './session.ts';

export class SocketOutput implements SessionOutput {
  readonly #socket: Socket;
  readonly #raw: Socket;
  readonly #timers: Timers;
  #writtenBytes = 0;
  #isFinished = false;

  /** `raw`: the TCP connection, over which `socket` may be TLS. */
  constructor(socket: Socket, raw: Socket, timers: Timers) {
    this.#socket = socket;
    this.#raw = raw;
    this.#timers = timers;
  }

  get sentBytes(): number {
    return this.#writtenBytes - this.#socket.writableLength;
  }

  get queuedBytes(): number {
    return this.#socket.writableLength;
  }

  write(bytes: Buffer): void {
    if (!this.#socket.writable) return;
    this.#writtenBytes += bytes.length;
    this.#socket.write(bytes);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  finish(withinMs: number): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#socket.end();
    const cancel = this.#timers.after(withinMs, () => this.reset());
    this.#raw.once('close', cancel);
  }

  reset(): void {
    resetSocket(this.#socket, this.#raw);
  }
}
