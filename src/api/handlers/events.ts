/** Events of customers and of the operator, and their webhooks. docs/decisions/0619, 0621 */
import { EVENT_OPERATIONS } from '#contract/operators/event-operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { listEvents } from '#db/tables/events/events.ts';
import { findEventWebhook, OPERATOR, saveEventWebhook } from '#db/tables/events/webhooks.ts';
import type { Webhook } from '#model/webhook.ts';
import type { Call, Handler } from './handler.ts';
import { nextWebhook } from './next-webhook.ts';
import { refusePostedTo } from './refuse-posted-to.ts';

export const EVENT_HANDLERS = {
  'event.list': ({ db, accountId }, filter) => listEvents(db.query, { ...filter, accountId }),

  'event.getWebhook': ({ db, keyring, accountId }) => findEventWebhook(db.query, keyring, accountId),

  'event.setWebhook': async (call, asked) => {
    refusePostedTo(call, asked.url, EVENT_OPERATIONS['event.setWebhook'].request.fields.url);
    return await setWebhook(call, call.accountId, asked);
  },

  'eventOperator.list': ({ db }, filter) => listEvents(db.query, filter),

  'eventOperator.getWebhook': ({ db, keyring }) => findEventWebhook(db.query, keyring, OPERATOR),

  'eventOperator.setWebhook': (call, asked) => setWebhook(call, OPERATOR, asked),
} satisfies {
  readonly [N in Exclude<EventRoute, 'event.watch'>]: Handler<N>;
};

type EventRoute = Extract<RouteName, `event.${string}` | `eventOperator.${string}`>;

interface AskedWebhook {
  /** Empty: none. */
  readonly url: string;
  readonly isRotated: boolean;
}

function setWebhook({ db, keyring, now }: Call, receiver: number, asked: AskedWebhook): Promise<Webhook | undefined> {
  return db.transaction(async (trx) => {
    const webhook = nextWebhook(await findEventWebhook(trx, keyring, receiver), asked);
    await saveEventWebhook(trx, keyring, { receiver, webhook, now });
    return webhook;
  });
}
