/**
 * Chooses the next step of an order from its stored state and the answers of the authority and the edges. Every step
 * can be repeated by a process that finds it half done. Pure. docs/decisions/0191
 */
import type { CertificateOrder, OrderProblem } from '#model/certificate-order.ts';
import type { Authorization, Challenge, Order } from './resources.ts';
import { isOverdue } from './schedule.ts';

export type Step =
  /** Begin a new order at the authority. */
  | { readonly kind: 'order' }
  /** Ask the authority when the certificate is to be renewed. */
  | { readonly kind: 'schedule' }
  /** Ask the authority how the order is, and call again. */
  | { readonly kind: 'look' }
  /** Publish the challenge to the edges. */
  | { readonly kind: 'publish'; readonly token: string }
  /** Ask the authority to validate, as every edge answers the challenge. */
  | { readonly kind: 'respond'; readonly url: string }
  /** Withdraw the challenge, which is over. */
  | { readonly kind: 'withdraw' }
  | { readonly kind: 'finalize'; readonly url: string }
  | { readonly kind: 'download'; readonly url: string }
  | { readonly kind: 'wait'; readonly forMs: number }
  | { readonly kind: 'fail'; readonly problem: OrderProblem; readonly detail: string };

/** The answers of the authority; the authorization only while the order is pending. */
export interface Seen {
  readonly order: Order;
  readonly authorization: Authorization | undefined;
}

export interface Facts {
  readonly seen: Seen | undefined;
  /** Whether every live edge answers the challenge. */
  readonly areEdgesReady: boolean;
  readonly now: number;
}

/** Poll interval of edges and the authority. */
const EDGES_MS = 250;
const MAX_EDGES_MS = 5_000;
/** Time after which an authority that shows no result is asked to validate again. */
const LOOK_MS = 60_000;
const AUTHORITY_MS = 1_000;
const MAX_AUTHORITY_MS = 60_000;

export function nextStep(order: CertificateOrder, { seen, areEdgesReady, now }: Facts): Step {
  if (order.url === '') return { kind: order.state === 'issued' && now < order.renewAt ? 'schedule' : 'order' };
  const isWaitingForEdges = order.challenge !== undefined && !areEdgesReady;
  if (seen === undefined) {
    if (isOverdue(order, now)) return fail(isWaitingForEdges ? 'edges' : 'expired');
    return isWaitingForEdges ? waitForEdges(now - order.orderedAt) : { kind: 'look' };
  }
  const { status, finalizeUrl, certificateUrl, problem, retryAfterMs } = seen.order;
  switch (status) {
    case 'pending':
      return whilePending(order, seen.authorization, now);
    case 'ready':
      return order.challenge === undefined ? { kind: 'finalize', url: finalizeUrl } : { kind: 'withdraw' };
    case 'processing':
      return waitFor(retryAfterMs);
    case 'valid':
      if (order.challenge !== undefined) return { kind: 'withdraw' };
      if (order.privateKey === '') return fail('unusable', 'its private key is not here any more');
      return certificateUrl === undefined ? waitFor(retryAfterMs) : { kind: 'download', url: certificateUrl };
    case 'invalid':
      return fail('validation', seen.authorization?.challenge?.problem || problem);
  }
}

function whilePending(order: CertificateOrder, authorization: Authorization | undefined, now: number): Step {
  if (authorization === undefined) return waitFor(undefined);
  const { status, challenge, retryAfterMs } = authorization;
  if (status === 'ended') return fail('validation', challenge?.problem);
  if (status === 'valid') return waitFor(retryAfterMs); // the order is about to be ready
  if (challenge === undefined) return fail('refused', 'the authority does not offer HTTP-01 for this name');
  if (challenge.status === 'ended') return fail('validation', challenge.problem);
  if (!isPublished(order, challenge)) return { kind: 'publish', token: challenge.token };
  const isLooking = challenge.status === 'processing' || now - (order.challenge?.toldAt ?? 0) < LOOK_MS;
  return isLooking ? waitFor(retryAfterMs) : { kind: 'respond', url: challenge.url };
}

/** Whether the stored challenge is the authority's current one, which it may replace. */
function isPublished({ challenge }: CertificateOrder, { token }: Challenge): boolean {
  return challenge?.key.endsWith(`/${token}`) === true;
}

/** Waits for edges: briefly at first, since they need a moment, then longer. */
function waitForEdges(lastsMs: number): Step {
  return { kind: 'wait', forMs: Math.min(Math.max(EDGES_MS, Math.round(lastsMs / 10)), MAX_EDGES_MS) };
}

function waitFor(retryAfterMs: number | undefined): Step {
  return { kind: 'wait', forMs: Math.min(Math.max(retryAfterMs ?? 0, AUTHORITY_MS), MAX_AUTHORITY_MS) };
}

function fail(problem: OrderProblem, detail = ''): Step {
  return { kind: 'fail', problem, detail };
}
