/** Requests of one session that wait for their answer, and those that have waited too long. All have the same time. */
import type { Timers } from '#lib/timers.ts';
import type { Command, Pdu } from './layouts.ts';
import { nextSequence } from './sequence.ts';

/** `answered` also by a generic_nack. */
export type PduAnswer =
  | { readonly kind: 'answered'; readonly pdu: Pdu }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'disconnected' };

interface Waiting {
  readonly command: Command;
  readonly sentAt: number;
  readonly settle: (answer: PduAnswer) => void;
  /** Called instead when the answer comes after the time. */
  readonly late: (pdu: Pdu) => void;
}

/** Late answers that are remembered; beyond that the oldest is forgotten. */
const MAX_LATE = 10_000;
/** What is overdue is given that long again, for octets to be read that have arrived while the process was busy. */
const GRACE_MS = 50;

export class PendingRequests {
  readonly #timers: Timers;
  readonly #timeoutMs: number;
  /** Something was overdue; `sentAt`: when the oldest of that went out. */
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

  /** That wait and are not overdue. */
  get count(): number {
    return this.#waiting.size;
  }

  /** Gives the request its number. `command`: of the answer. */
  add(command: Command, settle: (answer: PduAnswer) => void, late: (pdu: Pdu) => void): number {
    this.#previous = nextSequence(this.#previous, (it) => this.#waiting.has(it) || this.#late.has(it));
    this.#waiting.set(this.#previous, { command, sentAt: this.#timers.now(), settle, late });
    if (this.#cancel === undefined) this.#watch();
    return this.#previous;
  }

  /** What nobody waits for, and an answer to something else, counts for nothing. */
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

  /** Whatever waits is settled: no answer comes any more. */
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
