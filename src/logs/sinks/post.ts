/** A post to a sink, and what becomes of it. Pure. docs/decisions/0743 */
import { type Backoff, backoffDelayMs } from '#lib/backoff.ts';

export interface SinkPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export type SinkAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Absent if the receiver does not say when it is to be asked again. */
      readonly retryAfterMs?: number;
    }
  /** No response, or an address that the guard forbids. `reason`: a word. */
  | { readonly kind: 'failed'; readonly reason: string };

/** Never rejects; bounded in time. */
export type PostRecords = (post: SinkPost, signal: AbortSignal) => Promise<SinkAnswer>;

export type SinkFate =
  | { readonly kind: 'sent' }
  /** Too large for the receiver: it is sent in two halves. */
  | { readonly kind: 'halved' }
  | { readonly kind: 'retried'; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'dropped'; readonly reason: string };

const BACKOFF: Backoff = { firstMs: 1_000, capMs: 60_000 };
/** Longest pause that a receiver may ask for. */
const MAX_RETRY_AFTER_MS = 3_600_000;
/** Tries of a batch that the receiver refuses. */
const MAX_REFUSALS = 3;

interface Sent {
  readonly records: number;
  /** Posts of the same batch that were refused before. */
  readonly refusals: number;
  /** Posts to the sink that failed in a row, with this one. */
  readonly failures: number;
  /** 0 ≤ random < 1 */
  readonly random: number;
}

export function sinkFateOf(answer: SinkAnswer, { records, refusals, failures, random }: Sent): SinkFate {
  const delayMs = backoffDelayMs(BACKOFF, failures, random);
  if (answer.kind === 'failed') return { kind: 'retried', delayMs, reason: answer.reason };
  const { status, retryAfterMs = 0 } = answer;
  const reason = String(status);
  if (status >= 200 && status < 300) return { kind: 'sent' };
  if (status === 413 && records > 1) return { kind: 'halved' };
  if (isPassingStatus(status))
    return { kind: 'retried', delayMs: Math.max(delayMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)), reason };
  return refusals + 1 >= MAX_REFUSALS ? { kind: 'dropped', reason } : { kind: 'retried', delayMs, reason };
}

/** Whether the same post may be taken later. */
export function isPassingStatus(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}
