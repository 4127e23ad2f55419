/**
 * Carries a prefetch from the feed to one worker of this machine, round-robin, and its outcome back. The prefetches of
 * a worker that dies go to another, a limited number of times: one of them may be the cause.
 */
import type { PrefetchOutcome, PrefetchRequest } from '#sites/prefetch.ts';
import type { ToChild } from '../process/messages.ts';

interface Prefetcher {
  readonly name: string;
  /** False when there is no process to send to. */
  send(message: ToChild): boolean;
}

interface Pending {
  readonly request: PrefetchRequest;
  worker: string;
  deaths: number;
  finish(outcome: PrefetchOutcome | undefined): void;
}

/** Number of workers that may die during one prefetch before it fails. */
const MAX_DEATHS = 2;

export class PrefetchRelay {
  readonly #workers: () => readonly Prefetcher[];
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #next = 0;

  /** `workers` returns those that may be asked now. */
  constructor(workers: () => readonly Prefetcher[]) {
    this.#workers = workers;
  }

  /** `undefined`: no worker can do it just now. */
  relay(request: PrefetchRequest): Promise<PrefetchOutcome | undefined> {
    return new Promise((resolve) => {
      this.#ask({ request, worker: '', deaths: 0, finish: resolve });
    });
  }

  /** Notes that the worker has finished the prefetch with this id. */
  settle(worker: string, id: number, outcome: PrefetchOutcome | undefined): void {
    const pending = this.#pending.get(id);
    if (pending?.worker !== worker) return;
    this.#pending.delete(id);
    pending.finish(outcome);
  }

  /** The worker's process is gone. */
  forget(worker: string): void {
    for (const [id, pending] of [...this.#pending]) {
      if (pending.worker !== worker) continue;
      this.#pending.delete(id);
      pending.deaths += 1;
      if (pending.deaths < MAX_DEATHS) this.#ask(pending);
      else pending.finish({ kind: 'failed', reason: 'workerDied' });
    }
  }

  #ask(pending: Pending): void {
    const id = ++this.#lastId;
    const workers = this.#workers();
    for (let tries = 0; tries < workers.length; tries++) {
      const worker = workers[this.#next++ % workers.length];
      if (!worker?.send({ kind: 'prefetch', id, request: pending.request })) continue;
      pending.worker = worker.name;
      this.#pending.set(id, pending);
      return;
    }
    pending.finish(undefined);
  }
}
