/** Whether an edge is connected to control. A change is logged once, with the control; tries in between are not. */
import type { Logger } from '#lib/logger.ts';

export class ConnectionState {
  readonly #log: Logger;
  readonly #tried = Promise.withResolvers<void>();
  #isConnected = false;
  #ends = 0;
  /** What was logged last. */
  #said: 'nothing' | 'connected' | 'lost' = 'nothing';

  constructor(log: Logger) {
    this.#log = log;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Number of connections that have ended or could not be made. */
  get ends(): number {
    return this.#ends;
  }

  /** Resolves when the first try has succeeded or failed. */
  get tried(): Promise<void> {
    return this.#tried.promise;
  }

  noteConnected(control: string): void {
    this.#isConnected = true;
    this.#tried.resolve();
    if (this.#said !== 'connected') this.#log.info({ control }, 'connected to control');
    this.#said = 'connected';
  }

  noteEnd(): void {
    this.#isConnected = false;
    this.#ends += 1;
    this.#tried.resolve();
  }

  /** Logs the end of a connection that the edge or control had announced: the next line says where it goes on. */
  sayLeft(): void {
    if (this.#said === 'connected') this.#said = 'nothing';
  }

  sayLost(control: string, error: unknown): void {
    const problem = this.#said === 'connected' ? 'connection to control lost' : 'cannot connect to control';
    if (this.#said === 'lost') this.#log.debug({ err: error, control }, `${problem}; retrying`);
    else this.#log.warn({ err: error, control }, `${problem}; retrying, with the last settings in force`);
    this.#said = 'lost';
  }
}
