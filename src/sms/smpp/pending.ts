/** The requests in flight of one session, and those that timed out. All have the same timeout. */
import type { Timers } from '#lib/timers.ts';
import type { Command, Pdu } from './layouts.ts';
import { nextSequence } from './sequence.ts';

/** `answered`: by the response or by a generic_nack. */
export type PduAnswer =
  | { readonly kind: 'answered'; readonly pdu: Pdu }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'disconnected' };

interface Waiting {
  readonly command: Command;
  readonly sentAt: number;
  readonly settle: (answer: PduAnswer) => void;
  /** Called with a response that arrives after the timeout. */
  readonly late: (pdu: Pdu) => void;
}

/** Limit of timed-out requests that are remembered; beyond it, the oldest is forgotten. */
const MAX_LATE = 10_000;
/** Time added to the timeout, to read responses that arrived while the process was busy. */
const GRACE_MS = 50;

export class PendingRequests {
  readonly #timers: Timers;
  readonly #timeoutMs: number;
  /** Notified of timeouts. `sentAt`: when the oldest of these requests was sent. */
  readonly #onTimeout: (sentAt: number) => void;
  /** Requests in flight by sequence number, in order of sending. */
  readonly #waiting = new Map<number, Waiting>();
  readonly #late = new Map<number, Waiting>();
  #previous: number;
  #cancel: (() => void) | undefined;

  /** `previous`: the sequence number before the first. */
  constructor(timers: Timers, timeoutMs: number, previous: number, onTimeout: (sentAt: number) => void) {
    this.#timers = timers;
    this.#timeoutMs = timeoutMs;
    this.#previous = previous;
    this.#onTimeout = onTimeout;
  }

  /** Number of requests in flight. */
  get count(): number {
    return this.#waiting.size;
  }

  /** Registers a request and returns its sequence number. `command`: the command of its response. */
  add(command: Command, settle: (answer: PduAnswer) => void, late: (pdu: Pdu) => void): number {
    this.#previous = nextSequence(this.#previous, (it) => this.#waiting.has(it) || this.#late.has(it));
    this.#waiting.set(this.#previous, { command, sentAt: this.#timers.now(), settle, late });
    if (this.#cancel === undefined) this.#watch();
    return this.#previous;
  }

  /** Settles the request that `pdu` responds to. Unexpected responses are ignored. */
  settle(pdu: Pdu): void {
    const { sequence } = pdu;
    const waiting = this.#waiting.get(sequence);
    const { command, late } = waiting ?? this.#late.get(sequence) ?? {};
    if (pdu.command !== command && pdu.command !== 'genericNack') return;
    this.#waiting.delete(sequence);
    this.#late.delete(sequence);
    if (waiting !== undefined) waiting.settle({ kind: 'answered', pdu });
    else late?.(pdu);
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
    const [oldest] = this.#waiting.values();
    this.#cancel = undefined;
    if (oldest === undefined) return;
    const leftMs = oldest.sentAt + this.#timeoutMs - this.#timers.now();
    this.#cancel = this.#timers.after(Math.max(0, leftMs), () => {
      this.#cancel = this.#timers.after(GRACE_MS, () => this.#giveUp());
    });
  }

  #giveUp(): void {
    const overdue = [...this.#waiting].filter(([, { sentAt }]) => sentAt + this.#timeoutMs <= this.#timers.now());
    for (const [sequence, waiting] of overdue) {
      this.#waiting.delete(sequence);
      this.#remember(sequence, waiting);
      waiting.settle({ kind: 'timeout' });
    }
    this.#watch();
    const [first] = overdue;
    if (first !== undefined) this.#onTimeout(first[1].sentAt);
  }

  #remember(sequence: number, waiting: Waiting): void {
    this.#late.set(sequence, waiting);
    const [oldest] = this.#late.keys();
    if (this.#late.size > MAX_LATE && oldest !== undefined) this.#late.delete(oldest);
  }
}
