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
