/** The queue of webhooks of SMS apps, and the start of its deliveries. */
import type { Keyring } from '#db/secrets/keyring.ts';
import { claimDeliveries, deleteDelivery, postponeDelivery } from '#db/tables/delivery-queue.ts';
import { findWebhook } from '#db/tables/sms/deliveries.ts';
import type { Timers } from '#lib/timers.ts';
import { startDeliveries } from '#webhooks/deliver.ts';
import type { PostWebhook } from '#webhooks/webhook-post.ts';
import { deliveryAttemptOf, startDeliveryAttempts } from './delivery-attempts.ts';
import type { SmsTools } from './tools.ts';

export interface WebhooksOptions extends Omit<SmsTools, 'owner' | 'chargeAt'> {
  readonly ring: Keyring;
  readonly timers: Timers;
  readonly post: PostWebhook;
}

/** Posts receipts and replies to the webhooks of apps. */
export function startWebhooks({ db, ring, peers, metrics, post, ...tools }: WebhooksOptions): AsyncDisposable {
  const attempts = startDeliveryAttempts({ db, log: tools.log });
  const deliveries = startDeliveries({
    ...tools,
    note: (delivery, attempt) => attempts.note(deliveryAttemptOf(delivery, attempt)),
    queue: {
      claim: (claim) =>
        db.transaction((trx) => claimDeliveries(trx, TABLE, claim, (x, appId) => findWebhook(x, ring, appId))),
      delete: (id) => deleteDelivery(db.query, TABLE, id),
      postpone: (id, dueAt, error) => postponeDelivery(db.query, TABLE, { id, dueAt, error }),
    },
    postTo: () => post,
    mayClaim: () => peers.mayClaim,
    count: (outcome) => metrics.deliveries.inc({ outcome }),
  });
  return {
    async [Symbol.asyncDispose]() {
      await deliveries[Symbol.asyncDispose]();
      await attempts[Symbol.asyncDispose]();
    },
  };
}

const TABLE = 'sms_delivery';
