/** The requests in flight of one session, and those that timed out. All have the same timeout. */
import type { Timers } from '#lib/timers.ts';
import type { SequenceKey } from './dialect.ts';

/** How a request ended. */
export type WireAnswer<P> =
  | { readonly kind: 'answered'; readonly packet: P }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'disconnected' };

interface Waiting<P> {
  readonly command: string;
  readonly sentAt: number;
  readonly settle: (answer: WireAnswer<P>) => void;
  /** Called with an answer that arrives after the timeout. */
  readonly late: (packet: P) => void;
}

/** Limit of timed-out requests that are remembered; beyond it, the oldest is forgotten. */
const MAX_LATE = 10_000;
/** Time added to the timeout, to read answers that arrived while the process was busy. */
const GRACE_MS = 50;

export interface PendingOptions<P> {
  readonly timers: Timers;
  readonly timeoutMs: number;
  /** Whether the packet may be the answer to a request with this command. */
  answers(packet: P, command: string): boolean;
  /** Notified of timeouts. `sentAt`: when the oldest of these requests was sent. */
  timedOut(sentAt: number): void;
}

export class PendingRequests<P> {
  readonly #options: PendingOptions<P>;
  /** Requests in flight by sequence, in order of sending. */
  readonly #waiting = new Map<SequenceKey, Waiting<P>>();
  readonly #late = new Map<SequenceKey, Waiting<P>>();
  #cancel: (() => void) | undefined;

  constructor(options: PendingOptions<P>) {
    this.#options = options;
  }

  /** Number of requests in flight. */
  get count(): number {
    return this.#waiting.size;
  }

  /** Whether a request in flight, or one whose answer may still come, has the sequence. */
  has(key: SequenceKey): boolean {
    return this.#waiting.has(key) || this.#late.has(key);
  }

  add(key: SequenceKey, command: string, settle: (answer: WireAnswer<P>) => void, late: (packet: P) => void): void {
    this.#waiting.set(key, { command, sentAt: this.#options.timers.now(), settle, late });
    if (this.#cancel === undefined) this.#watch();
  }

  /** Settles the request that `packet` answers. Unexpected answers are ignored. */
  settle(key: SequenceKey, packet: P): void {
    const waiting = this.#waiting.get(key);
    const asked = waiting ?? this.#late.get(key);
    if (asked === undefined || !this.#options.answers(packet, asked.command)) return;
    this.#waiting.delete(key);
    this.#late.delete(key);
    if (waiting !== undefined) waiting.settle({ kind: 'answered', packet });
    else asked.late(packet);
  }

  /** Settles all requests in flight as `disconnected`. */
  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#late.clear();
    for (const { settle } of waiting) settle({ kind: 'disconnected' });
  }

  #watch(): void {
    const { timers, timeoutMs } = this.#options;
    const [oldest] = this.#waiting.values();
    this.#cancel = undefined;
    if (oldest === undefined) return;
    const leftMs = oldest.sentAt + timeoutMs - timers.now();
    this.#cancel = timers.after(Math.max(0, leftMs), () => {
      this.#cancel = timers.after(GRACE_MS, () => this.#giveUp());
    });
  }

  #giveUp(): void {
    const { timers, timeoutMs, timedOut } = this.#options;
    const overdue = [...this.#waiting].filter(([, { sentAt }]) => sentAt + timeoutMs <= timers.now());
    for (const [key, waiting] of overdue) {
      this.#waiting.delete(key);
      this.#remember(key, waiting);
      waiting.settle({ kind: 'timeout' });
    }
    this.#watch();
    const [first] = overdue;
    if (first !== undefined) timedOut(first[1].sentAt);
  }

  #remember(key: SequenceKey, waiting: Waiting<P>): void {
    this.#late.set(key, waiting);
    const [oldest] = this.#late.keys();
    if (this.#late.size > MAX_LATE && oldest !== undefined) this.#late.delete(oldest);
  }
}
