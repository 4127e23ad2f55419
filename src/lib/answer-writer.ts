/** Writes answers on one connection, in order. */
import type { Socket } from 'node:net';
import type { DirectWrite } from './node-internals/direct-write.ts';

export class AnswerWriter {
  readonly #socket: Socket;
  readonly #direct: DirectWrite | undefined;
  readonly #onOut: (error?: Error | null) => void;
  /** Writes that completed before their callbacks ran. */
  #known = 0;

  /** `onOut` is called for each answer that had to wait, oldest first. */
  constructor(socket: Socket, direct: DirectWrite | undefined, onOut: (error?: Error | null) => void) {
    this.#socket = socket;
    this.#direct = direct;
    this.#onOut = onOut;
  }

  /** Returns true if the system has taken everything; `onOut` is then not called for it. */
  send(first: Buffer, rest: readonly Buffer[]): boolean {
    if (this.#direct?.tryAll(first, rest) === true) return true;
    const socket = this.#socket;
    const last = rest.at(-1);
    if (last === undefined) socket.write(first, this.#onWritten);
    else {
      socket.cork();
      socket.write(first);
      for (const piece of rest) socket.write(piece, piece === last ? this.#onWritten : undefined);
      socket.uncork();
    }
    const isOut = socket.writableLength === 0 && socket.errored === null && !socket.destroyed;
    if (isOut) this.#known += 1;
    return isOut;
  }

  readonly #onWritten = (error?: Error | null): void => {
    if (this.#known > 0) this.#known -= 1;
    else this.#onOut(error);
  };
}
