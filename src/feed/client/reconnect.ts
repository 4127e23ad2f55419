/** Decides when an edge asks control again after its stream has ended or a request has failed. */
import { type Backoff, backoffDelayMs } from '#lib/backoff.ts';

const RECONNECT: Backoff = { firstMs: 100, capMs: 5000 };
/**
 * Longest delay once every control of a list has failed `PATIENT_ROUNDS` times in a row, over `PATIENT_AFTER_MS`: the
 * restart of a single control takes seconds, in which an edge may ask more than ten times.
 */
const PATIENT_MS = 60_000;
const PATIENT_ROUNDS = 10;
const PATIENT_AFTER_MS = 60_000;
/** Mean interval of requests to a control that speaks no version of the feed in common with this edge. */
const VERSION_MS = 60_000;

/** Why the edge is without a stream. */
export type Outage =
  /** Control announced its end. `waitMs`: until this edge is to turn to another one. */
  | { readonly kind: 'goaway'; readonly waitMs: number }
  /** An open stream broke. Its control may have died with all of its streams, so its edges spread. */
  | { readonly kind: 'lost'; readonly spreadMs: number }
  | { readonly kind: 'refused'; readonly retryAfterMs: number | undefined }
  /** No version of the feed in common. */
  | { readonly kind: 'version' };

export const REFUSED: Outage = { kind: 'refused', retryAfterMs: undefined };

/** Why an edge itself ends its connection, to open another one at once. */
export class Reopening extends Error {}

export interface Attempts {
  /** Failures since a stream was last followed, at least 1. */
  readonly failures: number;
  /** Milliseconds since the first of them. */
  readonly outageMs: number;
  /** Number of controls; 0 for the unix socket of this machine, whose control is always asked soon. */
  readonly remoteControls: number;
}

/** `random`: 0 ≤ random < 1. */
export function feedDelayMs(outage: Outage, { failures, outageMs, remoteControls }: Attempts, random: number): number {
  if (outage.kind === 'version') return Math.round(VERSION_MS * (0.9 + 0.2 * random));
  if (remoteControls === 0) return backoffDelayMs(RECONNECT, failures, random);
  if (outage.kind === 'goaway') return Math.round(outage.waitMs);
  const isPatient = failures >= PATIENT_ROUNDS * remoteControls && outageMs >= PATIENT_AFTER_MS;
  const full = isPatient ? PATIENT_MS : Math.min(RECONNECT.capMs, RECONNECT.firstMs * 2 ** Math.min(failures - 1, 30));
  const spread = Math.max(full, outage.kind === 'lost' ? outage.spreadMs : 0);
  return Math.max(Math.round(spread * random), outage.kind === 'refused' ? (outage.retryAfterMs ?? 0) : 0);
}

/** Failures since a stream was last followed. Instants are of a clock that never steps back. */
export class Failures {
  #count = 0;
  #since = 0;

  get count(): number {
    return this.#count;
  }

  add(now: number): void {
    if (this.#count === 0) this.#since = now;
    this.#count += 1;
  }

  reset(): void {
    this.#count = 0;
  }

  attempts(now: number): Pick<Attempts, 'failures' | 'outageMs'> {
    return { failures: Math.max(this.#count, 1), outageMs: this.#count === 0 ? 0 : now - this.#since };
  }
}
