/**
 * Keeps a child process running: restarts it when it ends, after a pause that grows while it keeps ending early. What
 * the child is, and messages to it, are the caller's matter.
 */
import type { ChildProcess } from 'node:child_process';
import { type Backoff, backoffDelayMs } from './backoff.ts';

export interface SuperviseOptions {
  /** Starts the process; called for each restart. An error that it throws counts as a death. */
  launch(): ChildProcess;
  /** Called when the process ended unasked; the next one starts in `delayMs`. */
  onDeath(death: Death): void;
  readonly backoff: Backoff;
  /** A process that lived this long counts as healthy: its death is the first failure again. */
  readonly settledAfterMs: number;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  /** 0 ≤ random() < 1 */
  readonly random: () => number;
}

export interface Death {
  /** `exit code 1`, `signal SIGKILL`, or the reason why it could not be spawned, such as `spawn ENOMEM`. */
  readonly how: string;
  /** `undefined` if it was not spawned. */
  readonly pid: number | undefined;
  readonly delayMs: number;
}

export class SupervisedProcess {
  readonly #options: SuperviseOptions;
  #child: ChildProcess | undefined;
  #closed: Promise<unknown> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #isStopping = false;
  #stops = 0;

  constructor(options: SuperviseOptions) {
    this.#options = options;
    this.#launch();
  }

  /** The current process, or the last one that died; `undefined` if the latest could not be spawned. */
  get child(): ChildProcess | undefined {
    return this.#child;
  }

  get isRunning(): boolean {
    const child = this.#child;
    return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Sends a message. Returns false, without sending, if the process is gone. */
  send(message: object): boolean {
    if (this.#child?.connected !== true) return false;
    // A failure to send means that the process is ending, which is handled elsewhere. The result of `send` only reports
    // a backlog.
    this.#child.send(message, () => {});
    return true;
  }

  /** Kills the process; it is restarted unless it is being stopped. */
  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  /**
   * Stops restarting, asks the process to end with `ask`, and kills it after `limitMs`. Resolves when its output is
   * closed.
   */
  async stop(ask: () => void, limitMs: number): Promise<void> {
    this.#isStopping = true;
    this.#stops++;
    clearTimeout(this.#timer);
    if (this.isRunning) ask();
    const limit = setTimeout(() => this.kill(), limitMs);
    await this.#closed;
    clearTimeout(limit);
  }

  /** Ends the process as `stop` does and starts the next one at once. */
  async renew(ask: () => void, limitMs: number): Promise<void> {
    const stops = this.#stops + 1;
    await this.stop(ask, limitMs);
    if (this.#stops !== stops) return; // it was stopped for good in the meantime
    this.#isStopping = false;
    this.#launch();
  }

  /** Never throws: a process that cannot be spawned has died. */
  #launch(): void {
    const startedAt = this.#options.now();
    this.#child = undefined;
    try {
      this.#child = this.#options.launch();
    } catch (error) {
      this.#closed = undefined;
      // Deferred, so that the owner is notified of a death only after its constructor has returned.
      process.nextTick(() => this.#end(startedAt, undefined, error));
      return;
    }
    const child = this.#child;
    this.#closed = new Promise((resolve) => child.once('close', resolve));
    child.once('exit', (code, signal) =>
      this.#end(startedAt, child.pid, signal === null ? `exit code ${code}` : `signal ${signal}`),
    );
    // Not `once`: a failed kill is an `error`, too, and one without a listener would end this process.
    child.on('error', (error) => {
      if (child.pid === undefined) this.#end(startedAt, undefined, error); // it was not spawned, so it does not exit
    });
  }

  #end(startedAt: number, pid: number | undefined, reason: unknown): void {
    if (this.#isStopping) return;
    const { onDeath, backoff, settledAfterMs, now, random } = this.#options;
    this.#failures = now() - startedAt >= settledAfterMs ? 1 : this.#failures + 1;
    const delayMs = backoffDelayMs(backoff, this.#failures, random());
    this.#timer = setTimeout(() => this.#launch(), delayMs);
    onDeath({ how: reason instanceof Error ? reason.message : String(reason), pid, delayMs });
  }
}
