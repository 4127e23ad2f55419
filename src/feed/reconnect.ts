/** Decides when an edge asks control again after its stream has ended or a request has failed. Pure. */
import { type Backoff, backoffDelayMs } from '#lib/backoff.ts';

const RECONNECT: Backoff = { firstMs: 100, capMs: 5000 };
/** Longest delay once every control of a list has failed `PATIENT_ROUNDS` times in a row. */
const PATIENT_MS = 60_000;
const PATIENT_ROUNDS = 10;
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

export interface Attempts {
  /** Failures since a stream was last followed, at least 1. */
  readonly failures: number;
  /** Number of controls; 0 for the unix socket of this machine, whose control is always asked soon. */
  readonly remoteControls: number;
}

/** `random`: 0 ≤ random < 1. */
export function feedDelayMs(outage: Outage, { failures, remoteControls }: Attempts, random: number): number {
  if (outage.kind === 'version') return Math.round(VERSION_MS * (0.9 + 0.2 * random));
  if (remoteControls === 0) return backoffDelayMs(RECONNECT, failures, random);
  if (outage.kind === 'goaway') return Math.round(outage.waitMs);
  const isPatient = failures >= PATIENT_ROUNDS * remoteControls;
  const full = isPatient ? PATIENT_MS : Math.min(RECONNECT.capMs, RECONNECT.firstMs * 2 ** Math.min(failures - 1, 30));
  const spread = Math.max(full, outage.kind === 'lost' ? outage.spreadMs : 0);
  return Math.max(Math.round(spread * random), outage.kind === 'refused' ? (outage.retryAfterMs ?? 0) : 0);
}
