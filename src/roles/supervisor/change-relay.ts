/**
 * Carries a change from the feed to the workers of this machine and its live process, and reports when all of them run
 * it. A worker that dies no longer counts: its successor starts with the store as it is then. A silent one is killed.
 * Without any worker, nothing is in force.
 */
import type { ChangedMessage } from '../process/messages.ts';

interface ChangeReceiver {
  readonly name: string;
  /** False: the part is starting and cannot answer yet. */
  readonly isReady: boolean;
  /** False when there is no process to send to. */
  send(message: ChangedMessage): boolean;
  kill(): void;
}

export interface ChangeRelayOptions {
  workers(): readonly ChangeReceiver[];
  /** Notified and awaited too, but a change is not in force because they run it. */
  others(): readonly ChangeReceiver[];
  /**
   * Time limit of a part that is ready. A part that is still starting gets it again, and at most `MAX_LIMITS` times.
   */
  readonly limitMs: number;
  onSilent(worker: ChangeReceiver): void;
}

interface Pending {
  readonly missing: Set<string>;
  /** Whether a worker runs it. */
  isRun: boolean;
  finish(isRun: boolean): void;
}

/** A start takes a second or two, and many times that on an overloaded machine. */
const MAX_LIMITS = 12;

export class ChangeRelay {
  readonly #options: ChangeRelayOptions;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  constructor(options: ChangeRelayOptions) {
    this.#options = options;
  }

  /** Resolves when each worker runs the change or is gone, with false if no worker runs it. */
  relay(change: Omit<ChangedMessage, 'kind' | 'id'>): Promise<boolean> {
    const { workers, others, limitMs, onSilent } = this.#options;
    const id = ++this.#lastId;
    const asked = [...workers(), ...others()].filter((worker) => worker.send({ kind: 'changed', id, ...change }));
    if (asked.length === 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const missing = new Set(asked.map(({ name }) => name));
      let timer: NodeJS.Timeout | undefined;
      const awaitAll = (workers: readonly ChangeReceiver[], limits: number): void => {
        const ready = new Set(workers.filter(({ isReady }) => isReady));
        const isSilent = (worker: ChangeReceiver) => ready.has(worker) || limits === 1;
        timer = setTimeout(() => {
          const late = workers.filter(({ name }) => missing.has(name));
          for (const worker of late.filter(isSilent)) {
            onSilent(worker);
            worker.kill();
          }
          const starting = late.filter((worker) => !isSilent(worker));
          if (starting.length > 0) awaitAll(starting, limits - 1);
        }, limitMs);
      };
      awaitAll(asked, MAX_LIMITS);
      const finish = (isRun: boolean) => {
        clearTimeout(timer);
        this.#pending.delete(id);
        resolve(isRun);
      };
      this.#pending.set(id, { missing, isRun: false, finish });
    });
  }

  /** The worker runs the change that it was sent with this id. */
  settle(worker: string, id: number): void {
    this.#take(worker, id, true);
  }

  /** The worker's process is gone. */
  forget(worker: string): void {
    for (const id of [...this.#pending.keys()]) this.#take(worker, id, false);
  }

  #take(worker: string, id: number, isRun: boolean): void {
    const change = this.#pending.get(id);
    if (!change?.missing.delete(worker)) return;
    change.isRun ||= isRun && this.#options.workers().some(({ name }) => name === worker);
    if (change.missing.size === 0) change.finish(change.isRun);
  }
}
