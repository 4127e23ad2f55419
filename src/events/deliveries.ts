/** Posts events to the webhooks of the operator and of customers. docs/decisions/0621 */
import type { Db } from '#db/open.ts';
import type { Controls } from '#db/peers/peers.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { claimDeliveries, deleteDelivery, postponeDelivery } from '#db/tables/delivery-queue.ts';
import { findEventWebhook, OPERATOR } from '#db/tables/events/webhooks.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';
import type { ServiceEvent } from '#model/event.ts';
import type { DueDelivery } from '#model/webhook.ts';
import { startDeliveries } from '#webhooks/deliver.ts';
import type { PostWebhook } from '#webhooks/webhook-post.ts';

export interface EventDeliveriesOptions {
  readonly db: Db;
  readonly peers: Pick<Controls, 'mayClaim'>;
  readonly ring: Keyring;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: () => number;
  /** Posts to the operator's own address, which may be in a private network. */
  readonly postToOperator: PostWebhook;
  /** Posts to customers' addresses. */
  readonly postToCustomers: PostWebhook;
  /** Returns an event in words. */
  readonly describe: (event: ServiceEvent) => string;
  readonly count: (outcome: 'delivered' | 'retry' | 'dropped') => void;
  readonly log: Logger;
}

const TABLE = 'event_delivery';

export function startEventDeliveries(options: EventDeliveriesOptions): AsyncDisposable {
  const { db, peers, ring, postToOperator, postToCustomers, describe, ...tools } = options;
  const find = (x: Parameters<typeof findEventWebhook>[0], receiver: number) => findEventWebhook(x, ring, receiver);
  return startDeliveries({
    ...tools,
    queue: {
      claim: async (claim) => {
        const due = await db.transaction((trx) => claimDeliveries(trx, TABLE, claim, find));
        return due.map((delivery) => ({ ...delivery, body: bodyOf(delivery, describe) }));
      },
      delete: (id) => deleteDelivery(db.query, TABLE, id),
      postpone: (id, dueAt, error) => postponeDelivery(db.query, TABLE, { id, dueAt, error }),
    },
    postTo: (receiver) => (receiver === OPERATOR ? postToOperator : postToCustomers),
    mayClaim: () => peers.mayClaim,
  });
}

/** The body as it is posted: with the same names as the list of events. */
function bodyOf({ body }: DueDelivery, describe: EventDeliveriesOptions['describe']): string {
  const event = JSON.parse(body) as ServiceEvent; // `as`: written by `queueEvent` only
  const { id, at, kind, severity, accountId, target, actor, data } = event;
  return JSON.stringify({
    event: kind,
    event_id: String(id),
    time: at,
    severity,
    account_id: accountId === undefined ? '' : String(accountId),
    target,
    actor,
    data,
    text: describe(event),
  });
}
