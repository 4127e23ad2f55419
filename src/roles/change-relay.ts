/**
 * Carries a change from the feed to the workers of this machine and says when all of them run it. A worker that dies no
 * longer counts: its successor begins with the store as it is then. One that stays silent is cut off.
 */
import type { ChangedMessage } from './messages.ts';

interface ChangeReceiver {
  readonly name: string;
  /** False when there is no process to send to. */
  send(message: ChangedMessage): boolean;
  kill(): void;
}

export interface ChangeRelayOptions {
  readonly workers: readonly ChangeReceiver[];
  readonly limitMs: number;
  onSilent(worker: ChangeReceiver): void;
}

export class ChangeRelay {
  readonly #options: ChangeRelayOptions;
  readonly #pending = new Map<number, { readonly missing: Set<string>; finish(): void }>();
  #lastId = 0;

  constructor(options: ChangeRelayOptions) {
    this.#options = options;
  }

  /** Resolves when each worker runs the change, or is gone. */
  relay(change: Omit<ChangedMessage, 'kind' | 'id'>): Promise<void> {
    const { workers, limitMs, onSilent } = this.#options;
    const id = ++this.#lastId;
    const asked = workers.filter((worker) => worker.send({ kind: 'changed', id, ...change }));
    if (asked.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const missing = new Set(asked.map(({ name }) => name));
      const timer = setTimeout(() => {
        for (const worker of asked.filter(({ name }) => missing.has(name))) {
          onSilent(worker);
          worker.kill();
        }
      }, limitMs);
      const finish = () => {
        clearTimeout(timer);
        this.#pending.delete(id);
        resolve();
      };
      this.#pending.set(id, { missing, finish });
    });
  }

  /** The worker runs the change that it was sent with this id. */
  settle(worker: string, id: number): void {
    const change = this.#pending.get(id);
    if (change?.missing.delete(worker) && change.missing.size === 0) change.finish();
  }

  /** The worker's process is gone. */
  forget(worker: string): void {
    for (const id of [...this.#pending.keys()]) this.settle(worker, id);
  }
}
