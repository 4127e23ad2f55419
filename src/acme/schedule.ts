/** When an order is looked at again, and when a certificate is renewed. Pure. docs/decisions/0193 */
import { type Backoff, backoffDelayMs } from '#lib/backoff.ts';
import type { CertificateOrder } from '#model/certificate-order.ts';
import { NEVER_AT } from '#model/certificate-order.ts';

/** After a failure: authorities let a name fail five times an hour. */
const AFTER_FAILURE: Backoff = { firstMs: 3_600_000, capMs: 24 * 3_600_000 };
/** About a month: the last third of the usual lifetime. */
const MAX_FAILURES = 30;
/** Of the lifetime. */
const RENEWAL_SHARE = 1 / 3;
/** Renewals of certificates that were issued together do not come together: spread over so much of the lifetime, before. */
const JITTER_SHARE = 1 / 30;
/** Whatever a certificate says of its lifetime. */
const MIN_RENEWAL_MS = 3_600_000;
/** Of one order, from its beginning at the authority: what has not ended by then begins anew. */
const ORDER_LIMIT_MS = 3_600_000;
const TROUBLE: Backoff = { firstMs: 5_000, capMs: 300_000 };
/** Whatever an authority asks for that cannot do its work. */
const MAX_TROUBLE_MS = 24 * 3_600_000;

/** `random`: 0 ≤ random < 1. */
export function renewalAt(
  { validFrom, validTo }: { readonly validFrom: number; readonly validTo: number },
  now: number,
  random: number,
): number {
  const lifetime = validTo - validFrom;
  const at = validTo - lifetime * (RENEWAL_SHARE + JITTER_SHARE * random);
  return Math.round(Math.max(at, now + MIN_RENEWAL_MS));
}

/** `failures`: with this one. `retryAfterMs`: what the authority asks for. */
export function retryAt(failures: number, now: number, random: number, retryAfterMs = 0): number {
  if (failures >= MAX_FAILURES) return NEVER_AT;
  return now + Math.max(retryAfterMs, backoffDelayMs(AFTER_FAILURE, failures, random));
}

/** After an authority that could not be asked: soon at first, then less often, however long it lasts. `retryAfterMs`: what it asks for. */
export function troubleAt(
  { requestedAt, orderedAt }: CertificateOrder,
  now: number,
  random: number,
  retryAfterMs = 0,
): number {
  const lastsMs = now - Math.max(requestedAt, orderedAt);
  const doublings = Math.floor(Math.log2(Math.max(1, lastsMs / TROUBLE.firstMs))) + 1;
  return now + Math.max(Math.min(retryAfterMs, MAX_TROUBLE_MS), backoffDelayMs(TROUBLE, doublings, random));
}

export function isOverdue({ url, orderedAt }: CertificateOrder, now: number): boolean {
  return url !== '' && now - orderedAt >= ORDER_LIMIT_MS;
}
