/** The reports of this machine's workers about themselves, and the rates that follow from them. Pure. */

/** Counts since the worker's start. */
export interface WorkerVitals {
  readonly worker: string;
  /** Process id: a worker and its successor may run side by side, while the former drains. */
  readonly pid: number;
  readonly requests: number;
  readonly sentBytes: number;
  /** Requests of viewers that it is serving. */
  readonly underWay: number;
  /** Share of its file descriptors in use, 0 to 1; at least this much. */
  readonly descriptors: number;
}

/** Interval of a worker's reports. */
export const VITALS_MS = 2000;
/** Silence after which a worker counts as gone: several intervals, for busy machines. */
export const SILENT_MS = 15_000;

interface Known {
  readonly vitals: WorkerVitals;
  readonly at: number;
  /** Requests a second between the last two reports. */
  readonly requests: number;
  readonly sentBytes: number;
}

export interface Rates {
  readonly requestsPerSecond: number;
  readonly sentBytesPerSecond: number;
  readonly underWay: number;
}

export class VitalsBook {
  readonly #expected: number;
  readonly #startedAt: number;
  /** Last reports, keyed by process id. */
  readonly #workers = new Map<number, Known>();

  /** `expected`: number of workers. Instants are of a clock that only goes forward. */
  constructor(expected: number, now: number) {
    this.#expected = expected;
    this.#startedAt = now;
  }

  note(vitals: WorkerVitals, at: number): void {
    const before = this.#workers.get(vitals.pid);
    const seconds = before === undefined ? Number.POSITIVE_INFINITY : Math.max(at - before.at, 1) / 1000;
    const since = before?.vitals ?? { requests: 0, sentBytes: 0 };
    this.#workers.set(vitals.pid, {
      vitals,
      at,
      requests: (vitals.requests - since.requests) / seconds,
      sentBytes: Math.max(0, vitals.sentBytes - since.sentBytes) / seconds,
    });
  }

  /** Whether every worker has reported, or should have by now. */
  isComplete(now: number): boolean {
    return this.#names(now) >= this.#expected || now - this.#startedAt >= SILENT_MS;
  }

  /** Returns the problem with the workers; `undefined` if each has reported lately. */
  problem(now: number): string | undefined {
    const present = this.#names(now);
    return present >= this.#expected ? undefined : `${present} of ${this.#expected} workers report`;
  }

  /** Largest share of file descriptors that a worker uses. */
  descriptors(now: number): number {
    return Math.max(0, ...this.#present(now).map(({ vitals }) => vitals.descriptors));
  }

  rates(now: number): Rates {
    const present = this.#present(now);
    const sum = (read: (known: Known) => number) => present.reduce((total, known) => total + read(known), 0);
    return {
      requestsPerSecond: sum(({ requests }) => requests),
      sentBytesPerSecond: sum(({ sentBytes }) => sentBytes),
      underWay: sum(({ vitals }) => vitals.underWay),
    };
  }

  #names(now: number): number {
    return new Set(this.#present(now).map(({ vitals }) => vitals.worker)).size;
  }

  #present(now: number): readonly Known[] {
    for (const [pid, { at }] of this.#workers) if (now - at >= SILENT_MS) this.#workers.delete(pid);
    return [...this.#workers.values()];
  }
}
