/** The customers' operations of SMS, their words on the wire and in the model. Used by `wire.ts` only. */

import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { WIRE_SMS_APP_SETTINGS } from '#contract/settings/settings.ts';
import type { SmsPrice } from '#db/tables/sms/balance.ts';
import type { ReplyView } from '#db/tables/sms/replies.ts';
import type { SmsPartView, SmsRequestSums, SmsRequestView } from '#db/tables/sms/views.ts';
import type { Currency } from '#model/currency.ts';
import type { MarketingHours, SmsApp, SmsAppSettings, SmsKind } from '#model/sms-app.ts';
import { messageStateOf } from '#model/sms-part.ts';
import type { StatusWord } from '#model/sms-status-words.ts';
import type { StoredWebhook } from '#model/webhook.ts';
import { readNumbers } from '../sms/sms-refusals.ts';
import type { Look } from './wire-domain.ts';
import {
  READ_SMS_SEARCH,
  readNumber,
  textOf,
  WRITE_SMS_SEARCH,
  writeCurrency,
  writeStatus,
} from './wire-sms-search.ts';
import { DEFAULT_PAGE_SIZE } from './wire-values.ts';
import type { Writers } from './writers.ts';

type SmsRoute = Extract<RouteName, `sms.${string}`>;

/** What is `undefined` stays as it is. */
export interface SettingsChange {
  readonly appKey: string;
  readonly hours: 'off' | { readonly from: number; readonly to: number } | undefined;
  readonly timeZone: string | undefined;
  readonly chosen: Partial<SmsAppSettings>;
}

export const READ_SMS = {
  'sms.ordinary': (request) => readMessage('ordinary', { ...request, smsType: request.smsType ?? 1 }),
  'sms.advertising': (request) => readMessage('advertising', { ...request, smsType: 1 }),
  'sms.updateStatus': ({ app_key, time, status }) => ({ appKey: app_key, time, wanted: status }),
  'sms.getStatus': ({ sendid }) => ({ sendid }),
  'sms.list': ({ app_key, before, page_size }) => ({ appKey: app_key, before, limit: page_size ?? DEFAULT_PAGE_SIZE }),
  'sms.listReplies': ({ app_key, mobile, from, to, before, page_size }) => ({
    appKey: app_key,
    number: mobile === undefined ? undefined : readNumber(mobile),
    from,
    to,
    before,
    limit: page_size ?? DEFAULT_PAGE_SIZE,
  }),
  'sms.balance': () => undefined,
  'sms.getOptOuts': readOptOutPage,
  'sms.addOptOuts': ({ mobile }) => ({ numbers: readNumbers(mobile) }),
  'sms.removeOptOuts': ({ mobile }) => ({ numbers: readNumbers(mobile) }),
  'sms.getSettings': ({ app_key }) => ({ appKey: app_key }),
  'sms.setSettings': (request): SettingsChange => ({
    appKey: request.app_key,
    hours: request.marketing_hours === undefined ? undefined : readHours(request.marketing_hours),
    timeZone: request.time_zone,
    chosen: WIRE_SMS_APP_SETTINGS.readGiven(request),
  }),
  'sms.getWebhook': ({ app_key }) => ({ appKey: app_key }),
  'sms.setWebhook': ({ app_key, url, rotate }) => ({ appKey: app_key, url, isRotated: rotate === '1' }),
  ...READ_SMS_SEARCH,
} satisfies { readonly [N in SmsRoute]: (request: RequestOf<N>) => unknown };

export const WRITE_SMS = {
  'sms.ordinary': writeSent,
  'sms.advertising': writeSent,
  'sms.updateStatus': (isEnabled: boolean) => ({ status: writeStatus(isEnabled) }),
  'sms.getStatus': writeMessages,
  'sms.list': (page: { readonly list: readonly SmsRequestSums[]; readonly next: string }, look) => ({
    list: page.list.map(({ numbers, parts, price, ...request }) => ({
      ...writeRequest(request, look),
      numbers,
      parts,
      price,
    })),
    next: page.next,
  }),
  'sms.listReplies': (page: { readonly list: readonly ReplyView[]; readonly next: string }, look) => ({
    list: page.list.map((reply) => writeReply(reply, look)),
    next: page.next,
  }),
  'sms.balance': ({ balance, currency, prices }: BalanceView) => ({
    balance,
    ...writeCurrency(currency),
    prices: prices.map(({ kind, prefix, price }) => ({ kind, prefix, price })),
  }),
  'sms.getOptOuts': writeOptOuts,
  'sms.removeOptOuts': (isRemoved: boolean) => isRemoved,
  'sms.getSettings': writeSettings,
  'sms.getWebhook': writeWebhook,
  'sms.setWebhook': writeWebhook,
  ...WRITE_SMS_SEARCH,
} satisfies Writers<SmsRoute>;

interface BalanceView {
  readonly balance: number;
  readonly currency: Currency;
  readonly prices: readonly SmsPrice[];
}

/** Other fields of a message keep their names. */
function readMessage<R extends { readonly app_key: string }>(kind: SmsKind, { app_key: appKey, ...message }: R) {
  return { kind, appKey, ...message };
}

function writeSent(sendid: string): DataOf<'sms.ordinary'> {
  return { sendid };
}

function readHours(text: string): 'off' | { readonly from: number; readonly to: number } {
  if (text === 'off') return 'off';
  const [from = 0, to = 0] = text.split('-').map((time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3)));
  return { from, to };
}

function writeHours(hours: MarketingHours | undefined): string {
  if (hours === undefined) return 'off';
  return [hours.from, hours.to]
    .map((minutes) => [Math.floor(minutes / 60), minutes % 60].map((n) => String(n).padStart(2, '0')).join(':'))
    .join('-');
}

interface OptOutPage {
  readonly list: readonly { readonly number: string; readonly createdAt: number }[];
  readonly next: string;
}

export function readOptOutPage({ prefix = '', after, page_size }: RequestOf<'sms.getOptOuts'>) {
  return { prefix, after: after || undefined, limit: page_size ?? DEFAULT_PAGE_SIZE };
}

export function writeOptOuts({ list, next }: OptOutPage, look: Look): DataOf<'sms.getOptOuts'> {
  return {
    list: list.map(({ number, createdAt }) => ({
      mobile: number,
      create_time: look.formatTime(createdAt),
      created_at: createdAt,
    })),
    next,
  };
}

function writeReply({ id, appKey, origin, text, coding, receivedAt, piece }: ReplyView, { formatTime }: Look) {
  const { reference, part, parts } = piece ?? { reference: 0, part: 1, parts: 1 };
  return {
    ...{ reply_id: String(id), app_key: appKey, mobile: origin, text, create_time: formatTime(receivedAt) },
    ...{ created_at: receivedAt, reference, part, parts },
    ...(coding !== undefined && { coding }),
  };
}

function writeSettings({ appKey, name, isEnabled, settings }: SmsApp): DataOf<'sms.getSettings'> {
  return {
    app_key: appKey,
    name,
    status: writeStatus(isEnabled),
    marketing_hours: writeHours(settings.marketingHours),
    time_zone: settings.marketingHours?.timeZone ?? '',
    ...WIRE_SMS_APP_SETTINGS.write(settings),
  };
}

function writeWebhook(webhook: StoredWebhook | undefined): DataOf<'sms.getWebhook'> {
  return { url: webhook?.url ?? '', secret: webhook?.secret ?? '' };
}

function writeRequest({ sendid, appKey, kind, createdAt }: SmsRequestView, { formatTime }: Look) {
  return { sendid, app_key: appKey, kind, create_time: formatTime(createdAt) };
}

/** `meaning`: of its last word, by its connector's table. */
interface ExplainedPart extends SmsPartView {
  readonly meaning: StatusWord | undefined;
}

function writeMessages(
  { request, parts }: { readonly request: SmsRequestView; readonly parts: readonly ExplainedPart[] },
  look: Look,
): DataOf<'sms.getStatus'> {
  const time = (at: number | undefined) => (at === undefined ? '' : look.formatTime(at));
  const byMessage = [...Map.groupBy(parts, ({ messageId }) => messageId).values()];
  return {
    ...writeRequest(request, look),
    numbers: byMessage.map((own) => ({
      mobile: own[0]?.destination ?? '',
      status: messageStateOf(own.map(({ state }) => state)),
      price: own[0]?.price ?? 0,
      parts: own.map(({ part, state, submittedAt, doneAt, error, lastWord, meaning, sends }) => ({
        part,
        status: state,
        // A simulated part was not submitted.
        submit_time: state === 'simulated' ? '' : time(submittedAt),
        done_time: time(doneAt),
        error,
        last_word: lastWord,
        group: meaning?.group ?? '',
        text: textOf(meaning, look.locale),
        sends: state === 'simulated' ? 0 : sends,
      })),
    })),
  };
}
