/** `sms.testWebhook` and `sms.listDeliveries`. docs/decisions/0680 */
import { ServiceError } from '#contract/errors/service-error.ts';
import { findWebhook } from '#db/tables/sms/deliveries.ts';
import {
  countWaitingDeliveries,
  listDeliveryAttempts,
  storeDeliveryAttempts,
} from '#db/tables/sms/delivery-attempts.ts';
import { findAppOrRefuse } from './find-sms-app.ts';
import type { Handler } from './handler.ts';

export const SMS_WEBHOOK_HANDLERS = {
  'sms.testWebhook': async (call, { appKey }) => {
    const { db, now, sms } = call;
    const { id: appId } = await findAppOrRefuse(db.query, call, appKey);
    const { url = '', secret } = (await findWebhook(db.query, sms.ring, appId)) ?? {};
    if (secret === undefined) throw new ServiceError('smsWebhookMissing', { appKey });
    const waitMs = sms.takeTest(appId);
    if (waitMs > 0) throw new ServiceError('tooManyRequests', { seconds: Math.ceil(waitMs / 1000) });
    const attempt = await sms.testWebhook({ appId, webhook: { url, secret }, now });
    await db.transaction((trx) => storeDeliveryAttempts(trx, [attempt]));
    return attempt;
  },

  'sms.listDeliveries': async (call, { appKey }) => {
    const { id } = await findAppOrRefuse(call.db.query, call, appKey);
    const waiting = await countWaitingDeliveries(call.db.query, id);
    return { waiting, list: await listDeliveryAttempts(call.db.query, id) };
  },
} satisfies { readonly [N in 'sms.testWebhook' | 'sms.listDeliveries']: Handler<N> };
