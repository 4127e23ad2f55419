/** The request to a webhook, its signature, and when it is retried. Pure. docs/decisions/0224 */
import { createHmac } from 'node:crypto';
import { type Backoff, backoffDelayMs } from '#lib/backoff.ts';
import type { WebhookAnswer, WebhookPost } from './webhook-post.ts';

const BACKOFF: Backoff = { firstMs: 5_000, capMs: 3_600_000 };
/** Longest delay between two posts; longer than a post itself takes. */
export const LONGEST_WEBHOOK_WAIT_MS = BACKOFF.capMs;
/** Tries of a delivery: about a day. */
const MAX_DELIVERY_TRIES = 40;

/** 410 Gone: the receiver wants no more deliveries. */
export const UNWANTED = 410;

export interface WebhookDelivery {
  readonly id: number;
  readonly url: string;
  readonly secret: string;
  /** JSON. */
  readonly body: string;
}

/** Builds the signed request. The signature covers the time, so that receivers can refuse a replay. */
export function webhookPostOf({ id, url, secret, body }: WebhookDelivery, now: number): WebhookPost {
  const signature = createHmac('sha256', secret).update(`${now}.${body}`).digest('hex');
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'causeway',
    'x-causeway-delivery': String(id),
    'x-causeway-signature': `t=${now},v1=${signature}`,
  };
  return { url, headers, body };
}

export type DeliveryFate =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly dueAt: number; readonly reason: string }
  | { readonly kind: 'dropped'; readonly reason: string };

/** Whether the receiver has accepted the delivery: any 2xx. */
export function isAccepted(answer: WebhookAnswer): boolean {
  return answer.kind === 'answered' && answer.status >= 200 && answer.status < 300;
}

/** Decides whether a delivery is done, retried or dropped. */
export function deliveryFateOf(answer: WebhookAnswer, tries: number, now: number, random: number): DeliveryFate {
  if (isAccepted(answer)) return { kind: 'delivered' };
  const reason = answer.kind === 'answered' ? String(answer.status) : answer.reason;
  const isUnwanted = answer.kind === 'answered' && answer.status === UNWANTED;
  if (isUnwanted || tries >= MAX_DELIVERY_TRIES) return { kind: 'dropped', reason };
  return { kind: 'retry', dueAt: now + backoffDelayMs(BACKOFF, tries, random), reason };
}
