/** The `/api/sms/*` and `/api/app/*` operations: what customers send, and what becomes of it. */
import { hash } from 'node:crypto';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import { SMS_OPERATIONS } from '#contract/sms/sms-operations.ts';
import { changeSmsAppStatus, findSmsAppToChange, saveSmsAppSettings } from '#db/tables/sms/apps.ts';
import { listSmsPrices, readSmsBalance } from '#db/tables/sms/balance.ts';
import { findWebhook, saveWebhook } from '#db/tables/sms/deliveries.ts';
import { addOptOuts, removeOptOuts } from '#db/tables/sms/opt-outs.ts';
import { listSmsReplies } from '#db/tables/sms/replies.ts';
import { readMeanings } from '#db/tables/sms/status-words.ts';
import { findSmsRequest, listSmsParts, listSmsRequests } from '#db/tables/sms/views.ts';
import { flatText } from '#lib/flat-text.ts';
import { DEFAULT_SMS_APP_SETTINGS, type SmsAppSettings } from '#model/sms-app.ts';
import type { Submission } from '#sms/accept.ts';
import { toSmsRefusal } from '../sms/sms-refusals.ts';
import type { InputOf } from '../wire/wire.ts';
import type { SettingsChange } from '../wire/wire-sms.ts';
import { findAppOrRefuse, orRefuse } from './find-sms-app.ts';
import type { Call, Handler } from './handler.ts';
import { nextWebhook } from './next-webhook.ts';
import { pageOfOptOuts } from './opt-outs.ts';
import { refusePostedTo } from './refuse-posted-to.ts';
import { SMS_ACCOUNT_HANDLERS } from './sms-account.ts';
import { refuseReversed, SMS_SEARCH_HANDLERS } from './sms-search.ts';
import { SMS_WEBHOOK_HANDLERS } from './sms-webhooks.ts';

export const SMS_HANDLERS = {
  'sms.ordinary': send,
  'sms.advertising': send,

  'sms.updateStatus': async (call, { appKey, time, wanted }) => {
    const { id } = await findAppOrRefuse(call.db.query, call, appKey);
    const replayHash = hashOf(call, 'updateSmsStatus', appKey, time);
    return await call.db.transaction((trx) =>
      changeSmsAppStatus(trx, { appId: id, wanted, replayHash, now: call.now }),
    );
  },

  'sms.getStatus': async ({ db, accountId }, { sendid }) => {
    const request = await findSmsRequest(db.query, { accountId, sendid });
    if (request === undefined) throw new ServiceError('sendidNotFound', { sendid });
    const parts = await listSmsParts(db.query, request.id);
    const meaningOf = await readMeanings(db.query);
    return { request, parts: parts.map((part) => ({ ...part, meaning: meaningOf(part.connectorId, part.lastWord) })) };
  },

  'sms.list': async (call, { appKey, before: sendid, limit }) => {
    const { db, accountId } = call;
    const app = appKey === undefined ? undefined : await findAppOrRefuse(db.query, call, appKey);
    const before = sendid === undefined ? undefined : await findSmsRequest(db.query, { accountId, sendid });
    if (sendid !== undefined && before === undefined) throw new ServiceError('sendidNotFound', { sendid });
    const list = await listSmsRequests(db.query, { accountId, appId: app?.id, before: before?.id, limit });
    return { list, next: list.length < limit ? '' : (list.at(-1)?.sendid ?? '') };
  },

  'sms.listReplies': async (call, { appKey, ...asked }) => {
    const { db, accountId } = call;
    refuseReversed(asked);
    const app = appKey === undefined ? undefined : await findAppOrRefuse(db.query, call, appKey);
    const { list, next = '' } = await listSmsReplies(db.query, { ...asked, accountId, appId: app?.id });
    return { list, next: String(next) };
  },

  'sms.balance': async ({ db, accountId, currency }) => ({
    balance: await readSmsBalance(db.query, accountId),
    currency,
    prices: await listSmsPrices(db.query),
  }),

  ...SMS_SEARCH_HANDLERS,
  ...SMS_ACCOUNT_HANDLERS,
  ...SMS_WEBHOOK_HANDLERS,

  'sms.getOptOuts': ({ db, accountId }, page) => pageOfOptOuts(db.query, accountId, page),

  'sms.addOptOuts': ({ db, now, accountId }, { numbers }) =>
    db.transaction(async (trx) => {
      await addOptOuts(trx, { accountId, numbers }, now);
      return undefined;
    }),

  'sms.removeOptOuts': async ({ db, accountId }, { numbers }) =>
    (await db.transaction((trx) => removeOptOuts(trx, { accountId, numbers }))) > 0,

  'sms.getSettings': (call, { appKey }) => findAppOrRefuse(call.db.query, call, appKey),

  'sms.setSettings': ({ db, accountId }, change) =>
    db.transaction(async (trx) => {
      const { appKey } = change;
      const { id, settings } = orRefuse(await findSmsAppToChange(trx, { accountId, appKey }), appKey);
      await saveSmsAppSettings(trx, id, changeSettings(settings, change));
      return undefined;
    }),

  'sms.getWebhook': async (call, { appKey }) => {
    const { id } = await findAppOrRefuse(call.db.query, call, appKey);
    return await findWebhook(call.db.query, call.sms.ring, id);
  },

  'sms.setWebhook': (call, { appKey, url, isRotated }) =>
    call.db.transaction(async (trx) => {
      const { id } = orRefuse(await findSmsAppToChange(trx, { accountId: call.accountId, appKey }), appKey);
      refusePostedTo(call, url, SMS_OPERATIONS['sms.setWebhook'].request.fields.url);
      const webhook = nextWebhook(await findWebhook(trx, call.sms.ring, id), { url, isRotated });
      await saveWebhook(trx, call.sms.ring, id, webhook);
      return webhook;
    }),
} satisfies { readonly [N in RouteName as N extends `sms.${string}` ? N : never]: Handler<N> };

type Asked = InputOf<'sms.ordinary' | 'sms.advertising'>;
/** Does not compile with a field that is not part of a submission, so that it would be dropped. */
type AskedSend = Asked & { readonly [F in Exclude<keyof Asked, keyof Submission | 'time'>]: never };

async function send(call: Call, { time, ...asked }: AskedSend): Promise<string> {
  const { accountId, now, sms } = call;
  // Two requests that differ in any other field are different requests.
  const { kind, appKey, mobile, content, smsType: _type, ...others } = asked;
  const hashed = hashOf(call, kind, appKey, time, mobile, content, ...Object.values(others));
  // The time comes first: requests that arrive together then lie together in the index. docs/decisions/0324
  const replayHash = flatText(time, hashed);
  const verdict = await sms.acceptor.submit({ ...asked, accountId, replayHash, sendid: sms.nextSendid(now), now });
  if (verdict.kind !== 'accepted') throw toSmsRefusal(verdict, appKey);
  return verdict.sendid;
}

/** Hash by which a repetition is recognised. docs/decisions/0211 */
function hashOf({ tokenId }: Call, ...parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify([tokenId, ...parts]));
}

function changeSettings(before: SmsAppSettings, { hours, timeZone, chosen }: SettingsChange): SmsAppSettings {
  return { ...before, ...chosen, marketingHours: changeHours(before.marketingHours, hours, timeZone) };
}

/** A time zone alone changes nothing where there are no hours. */
function changeHours(
  before: SmsAppSettings['marketingHours'],
  hours: SettingsChange['hours'],
  timeZone: string | undefined,
): SmsAppSettings['marketingHours'] {
  if (hours === 'off') return undefined;
  const base = before ?? (hours && DEFAULT_SMS_APP_SETTINGS.marketingHours);
  return base && { ...base, ...hours, timeZone: timeZone ?? base.timeZone };
}
