/** A certificate that the service obtains for a domain from an authority (ACME), and renews: one order per domain. */
import type { KeyObject } from 'node:crypto';
import type { CertificateChain } from './certificate.ts';

/**
 * `pending`: asked for. `challenged`: the edges are told what the authority will look for. `issued`: the domain has it,
 * until it is renewed. `failed`: tried again later, unless given up.
 */
export type OrderState = 'pending' | 'challenged' | 'issued' | 'failed';

/** What went wrong, or holds it up. */
export type OrderProblem =
  /** The authority cannot be asked, or does not answer. */
  | 'unreachable'
  /** The authority does not issue for this name, or not to us. */
  | 'refused'
  /** More than it allows. */
  | 'limited'
  /** The authority did not find the challenge at the name. */
  | 'validation'
  /** An edge did not take the challenge in time. */
  | 'edges'
  /** There was no end within an hour. */
  | 'expired'
  /** What it issued is of no use here. */
  | 'unusable'
  /** The account has as many certificates as it can. */
  | 'accountFull'
  /** The order has ended: the domain is gone, or was given another certificate, or none. */
  | 'replaced';

export interface CertificateOrder {
  readonly domainId: number;
  readonly state: OrderState;
  /** Absent while there is none. */
  readonly problem?: OrderProblem | undefined;
  /** Explanation of the authority, or of another party that knows more. */
  readonly detail: string;
  /**
   * The certificate that the domain had when this began, or has from it; empty: none. Where it has another, somebody
   * else decided.
   */
  readonly sslKey: string;
  /** The last certificate that came of it; empty: none has. */
  readonly issuedKey: string;
  /** URL of the order at the authority; empty until it has one. */
  readonly url: string;
  readonly challenge?: PublishedChallenge | undefined;
  /** Private key of the certificate to be issued, sealed; empty until it is requested. */
  readonly privateKey: string;
  /** Failures since the last success. */
  readonly failures: number;
  /** How many were begun at the authority since this instant. */
  readonly dayBeganAt: number;
  readonly dayOrders: number;
  readonly requestedAt: number;
  /** When the last one was begun at the authority; 0: never. */
  readonly orderedAt: number;
  /** When there is something to do. */
  readonly dueAt: number;
  /** When the certificate that was issued is renewed; 0: there was none. */
  readonly renewAt: number;
  /** Window in which the authority suggests renewal; absent: it suggests none. */
  readonly renewalWindow?: RenewalWindow | undefined;
}

/** Epoch milliseconds; `from` is before `to`. */
export interface RenewalWindow {
  readonly from: number;
  readonly to: number;
}

/** When a certificate is valid, in epoch milliseconds. */
export interface Validity {
  readonly validFrom: number;
  readonly validTo: number;
}

interface PublishedChallenge {
  /** Key of the feed's resource. */
  readonly key: string;
  /** That edges have it with. */
  readonly revision: number;
  /** When the authority was asked to validate; 0: not yet. */
  readonly toldAt: number;
}

/**
 * Orders that a domain may begin at the authority in 24 hours: authorities count failed ones by the hour and equal ones
 * by the week.
 */
export const MAX_ORDERS_PER_DAY = 5;
export const ORDER_DAY_MS = 24 * 3_600_000;

/** How many of today's are used. */
export function countDayOrders(
  { dayBeganAt, dayOrders }: Pick<CertificateOrder, 'dayBeganAt' | 'dayOrders'>,
  now: number,
): number {
  return now - dayBeganAt >= ORDER_DAY_MS ? 0 : dayOrders;
}

/** What has happened has happened by `now`, whatever a clock said that was ahead. */
export function withoutFuture(order: CertificateOrder, now: number): CertificateOrder {
  const { challenge, dayBeganAt, requestedAt, orderedAt } = order;
  return {
    ...order,
    challenge: challenge && { ...challenge, toldAt: Math.min(challenge.toldAt, now) },
    dayBeganAt: Math.min(dayBeganAt, now),
    requestedAt: Math.min(requestedAt, now),
    orderedAt: Math.min(orderedAt, now),
  };
}

/** Due time of an order that is given up until it is requested again: the latest instant that exists. */
export const NEVER_AT = 8_640_000_000_000_000;

/** A certificate that was obtained, for the domain that asked for it. */
export interface ObtainedCertificate {
  readonly domainId: number;
  /** What the domain must have still; empty: no certificate. */
  readonly instead: string;
  /** Delete that one, unless another domain has it. */
  readonly isReplaced: boolean;
  readonly chain: CertificateChain;
  readonly privateKey: KeyObject;
  readonly now: number;
}

/**
 * `unwanted`: the domain is gone, or has another certificate. `full`: the account has reached its limit of
 * certificates.
 */
export type Given = { readonly kind: 'given'; readonly sslKey: string } | { readonly kind: 'unwanted' | 'full' };
