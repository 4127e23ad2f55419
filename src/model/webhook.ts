/** Webhooks: addresses of receivers, and the deliveries that wait for them. */

/** Address of a receiver; the secret signs what is posted there. */
export interface Webhook {
  readonly url: string;
  readonly secret: string;
}

/** A webhook as stored. `secret` is absent if it cannot be unsealed or an export left it out. */
export type StoredWebhook = Pick<Webhook, 'url'> & Partial<Webhook>;

/** A delivery that has been claimed. */
export interface DueDelivery {
  readonly id: number;
  /** Whose webhook it is for: deliveries of one receiver wait for each other, never for those of another. */
  readonly receiver: number;
  /** `none`: the receiver has no webhook any more. `locked`: its secret cannot be unsealed, or an export left it out. */
  readonly webhook: Webhook | 'none' | 'locked';
  /** JSON. */
  readonly body: string;
  /** Number of tries, including this one. */
  readonly tries: number;
}

export interface DeliveryClaim {
  readonly now: number;
  readonly leaseUntil: number;
  readonly limit: number;
  /** Limit of those of one receiver. */
  readonly limitOfOne: number;
  /** Receivers that are skipped. */
  readonly paused: readonly number[];
}

/** How an attempt to post a delivery ended. */
export const DELIVERY_OUTCOMES = ['delivered', 'retry', 'dropped'] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

/** Characters of an answer's body that the owner of a webhook is shown. */
export const MAX_SHOWN_ANSWER = 500;

/** What a delivery to an SMS app's webhook tells. */
export const DELIVERY_EVENTS = ['receipt', 'reply', 'test'] as const;
export type DeliveryEvent = (typeof DELIVERY_EVENTS)[number];

/** One attempt to post to the webhook of an SMS app. */
export interface DeliveryAttempt {
  readonly appId: number;
  /** 0: a test, which is in no queue. */
  readonly deliveryId: number;
  readonly event: DeliveryEvent;
  /** Empty unless it is a receipt. */
  readonly sendid: string;
  readonly at: number;
  readonly tookMs: number;
  /** Number of tries of the delivery until then, this one included. */
  readonly tries: number;
  readonly outcome: DeliveryOutcome;
  /** HTTP status; 0: no answer. */
  readonly status: number;
  /** Why there was no answer; empty: there was one. */
  readonly reason: string;
  /** Beginning of the answer's body. */
  readonly answer: string;
}
