/**
 * Keeps a child process running: starts it again when it ends, after a pause that grows while it keeps ending soon. What the
 * child is and what is said to it is the caller's.
 */
import type { ChildProcess } from 'node:child_process';
import { type Backoff, backoffDelayMs } from './backoff.ts';

export interface SuperviseOptions {
  /** Starts the process; called again for each restart. */
  launch(): ChildProcess;
  /** The process ended without being asked to, and the next starts in `delayMs`. */
  onDeath(death: Death): void;
  readonly backoff: Backoff;
  /** A process that lived this long died of something new: counting begins again. */
  readonly settledAfterMs: number;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  /** 0 ≤ random() < 1 */
  readonly random: () => number;
}

export interface Death {
  /** `exit code 1` or `signal SIGKILL` */
  readonly how: string;
  readonly pid: number | undefined;
  readonly delayMs: number;
}

export class SupervisedProcess {
  readonly #options: SuperviseOptions;
  #child: ChildProcess;
  #closed: Promise<unknown> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #isStopping = false;

  constructor(options: SuperviseOptions) {
    this.#options = options;
    this.#child = this.#launch();
  }

  /** The process of now, or the one that died last while the next is awaited. */
  get child(): ChildProcess {
    return this.#child;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && this.#child.pid !== undefined;
  }

  /** Sends nothing when the process is gone; gives whether it was sent. */
  send(message: object): boolean {
    if (!this.#child.connected) return false;
    // A failure to send means that the process is ending, and its end is handled. What `send` gives speaks of a backlog.
    this.#child.send(message, () => {});
    return true;
  }

  /** Cut off at once and, unless it is being stopped, started again. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** No more restarts: asks the process to end with `ask`, and kills it after `limitMs`. Resolves when its last words are read. */
  async stop(ask: () => void, limitMs: number): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    if (this.isRunning) ask();
    const limit = setTimeout(() => this.kill(), limitMs);
    await this.#closed;
    clearTimeout(limit);
  }

  #launch(): ChildProcess {
    const { launch, onDeath, backoff, settledAfterMs, now, random } = this.#options;
    const startedAt = now();
    const child = launch();
    this.#closed = new Promise((resolve) => child.once('close', resolve));
    const onEnd = (how: string) => {
      if (this.#isStopping) return;
      this.#failures = now() - startedAt >= settledAfterMs ? 1 : this.#failures + 1;
      const delayMs = backoffDelayMs(backoff, this.#failures, random());
      this.#timer = setTimeout(() => {
        this.#child = this.#launch();
      }, delayMs);
      onDeath({ how, pid: child.pid, delayMs });
    };
    child.once('exit', (code, signal) => onEnd(signal === null ? `exit code ${code}` : `signal ${signal}`));
    child.once('error', (error) => {
      if (child.pid === undefined) onEnd(error.message); // could not be started, so there is no exit
    });
    return child;
  }
}
