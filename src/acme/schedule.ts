/** Schedules retries of orders and renewals of certificates. Pure. docs/decisions/0193 */
import { type Backoff, backoffDelayMs } from '#lib/backoff.ts';
import {
  type CertificateOrder,
  countDayOrders,
  MAX_ORDERS_PER_DAY,
  NEVER_AT,
  ORDER_DAY_MS,
  type RenewalWindow,
  type Validity,
} from '#model/certificate-order.ts';

/** Delay after the first failure: authorities let a name fail five times an hour. */
const FIRST_RETRY_MS = 3_600_000;
const MAX_RETRY_MS = 24 * 3_600_000;
/**
 * Longest delay of a retry, as a share of the time to the end of the certificate, or since its end; at least an hour.
 */
const RETRY_SHARE = 1 / 4;
/** Failures in a row after which an order is given up. */
const MAX_FAILURES = 30;
/** A renewal is not given up before the certificate has been expired for this long. */
const KEEP_TRYING_MS = 30 * 24 * 3_600_000;
/** Share of the lifetime that is left when a renewal begins. */
const RENEWAL_SHARE = 1 / 3;
/** Jitter: share of the lifetime over which renewals of certificates that were issued together are spread. */
const JITTER_SHARE = 1 / 30;
/** Shortest time to a renewal, whatever the lifetime of the certificate. */
const MIN_RENEWAL_MS = 3_600_000;
/** Limit of one order, from its creation at the authority; an order that has not ended by then starts again. */
const ORDER_LIMIT_MS = 3_600_000;
/** Delay between two requests to an authority that does not answer. */
const TROUBLE: Backoff = { firstMs: 5_000, capMs: 300_000 };
/** Longest delay after `Retry-After` of an unavailable authority. */
const MAX_TROUBLE_MS = 24 * 3_600_000;

/** `random`: 0 ≤ random < 1. */
export function renewalAt({ validFrom, validTo }: Validity, now: number, random: number): number {
  const lifetime = validTo - validFrom;
  const at = validTo - lifetime * (RENEWAL_SHARE + JITTER_SHARE * random);
  return Math.round(Math.max(at, now + MIN_RENEWAL_MS));
}

/** Latest renewal that a suggested window may cause: this share of the lifetime, and an hour, before the end. */
const LAST_SHARE = 1 / 20;
/** Shortest delay between two requests for renewal information. RFC 9773 §4.3.2, §4.3.3 */
const MIN_INFO_MS = 60_000;
const MAX_INFO_MS = 24 * 3_600_000;
export const INFO_MS = 6 * 3_600_000;

/**
 * Returns when to renew by the authority's suggestion: at a random instant of its window, which stays the same while
 * the window does, or at once if that has passed. Not within an hour of the previous order, and early enough for
 * retries.
 */
export function suggestedRenewalAt(
  window: RenewalWindow,
  { renewAt, renewalWindow: known, orderedAt }: Pick<CertificateOrder, 'renewAt' | 'renewalWindow' | 'orderedAt'>,
  { validFrom, validTo }: Validity,
  random: number,
): number {
  const isKnown = known?.from === window.from && known.to === window.to;
  const chosen = isKnown ? renewAt : window.from + (window.to - window.from) * random;
  const latest = validTo - Math.max((validTo - validFrom) * LAST_SHARE, MIN_RENEWAL_MS);
  return Math.round(Math.max(Math.min(chosen, latest), orderedAt + MIN_RENEWAL_MS));
}

/** Returns the delay until the next request for renewal information. */
export function nextInfoMs(retryAfterMs = INFO_MS): number {
  return Math.min(Math.max(retryAfterMs, MIN_INFO_MS), MAX_INFO_MS);
}

export interface Trouble {
  readonly now: number;
  /** 0 ≤ random < 1. */
  readonly random: number;
  /** The domain's current certificate, if any. */
  readonly served: Validity | undefined;
  /** Delay that the authority asks for. */
  readonly retryAfterMs: number | undefined;
}

/**
 * Returns when to retry after a failure. `failures`: in a row, this one included. `NEVER_AT`: the order is given up.
 */
export function retryAt(failures: number, { now, random, served, retryAfterMs }: Trouble): number {
  const isKept = served !== undefined && now - served.validTo < KEEP_TRYING_MS;
  if (failures >= MAX_FAILURES && !isKept) return NEVER_AT;
  const backoff: Backoff = { firstMs: FIRST_RETRY_MS, capMs: longestRetryMs(served, now) };
  return now + Math.max(obeyedMs(retryAfterMs, served, now), backoffDelayMs(backoff, failures, random));
}

/** Returns when to retry after the authority could not be reached: soon at first, then less often, without an end. */
export function troubleAt(
  { requestedAt, orderedAt }: Pick<CertificateOrder, 'requestedAt' | 'orderedAt'>,
  { now, random, served, retryAfterMs }: Trouble,
): number {
  const lastsMs = now - Math.max(requestedAt, orderedAt);
  const doublings = Math.floor(Math.log2(Math.max(1, lastsMs / TROUBLE.firstMs))) + 1;
  const askedMs = Math.min(obeyedMs(retryAfterMs, served, now), MAX_TROUBLE_MS);
  return now + Math.max(askedMs, backoffDelayMs(TROUBLE, doublings, random));
}

/**
 * Returns when an order may begin at the authority; not after `now` if it may at once. A domain's orders per day are
 * limited, but never so that a certificate expires.
 */
export function beginAt(
  order: Pick<CertificateOrder, 'dayBeganAt' | 'dayOrders' | 'orderedAt'>,
  served: Validity | undefined,
  now: number,
): number {
  if (countDayOrders(order, now) < MAX_ORDERS_PER_DAY) return now;
  const nextDayAt = order.dayBeganAt + ORDER_DAY_MS;
  if (served === undefined) return nextDayAt;
  return Math.min(nextDayAt, order.orderedAt + longestRetryMs(served, order.orderedAt));
}

/** Returns the longest delay of a retry: shorter as the end of the certificate approaches, longer again after it. */
function longestRetryMs(served: Validity | undefined, now: number): number {
  if (served === undefined) return MAX_RETRY_MS;
  const share = Math.abs(served.validTo - now) * RETRY_SHARE;
  return Math.min(Math.max(share, FIRST_RETRY_MS), MAX_RETRY_MS);
}

/** Returns the delay that the authority asks for; if it reaches beyond the certificate's end, half of the time left. */
function obeyedMs(retryAfterMs = 0, served: Validity | undefined, now: number): number {
  const leftMs = served === undefined ? 0 : served.validTo - now;
  if (leftMs <= 0 || retryAfterMs < leftMs) return retryAfterMs;
  return Math.min(retryAfterMs, Math.max(leftMs / 2, FIRST_RETRY_MS));
}

export function isOverdue({ url, orderedAt }: CertificateOrder, now: number): boolean {
  return url !== '' && now - orderedAt >= ORDER_LIMIT_MS;
}
