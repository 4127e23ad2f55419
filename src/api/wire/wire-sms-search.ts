/** What customers find, count and try of SMS, its words on the wire and in the model. Used by `wire-sms.ts`. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { Locale } from '#contract/schema/locale.ts';
import { explainSmsError } from '#contract/sms/error-texts.ts';
import type { LedgerEntry } from '#db/tables/sms/balance.ts';
import type { MessageHistory } from '#db/tables/sms/message-history.ts';
import type { MessagePage, SearchPlace } from '#db/tables/sms/search.ts';
import type { Currency } from '#model/currency.ts';
import type { SmsApp } from '#model/sms-app.ts';
import { messageStateOf, type PartState } from '#model/sms-part.ts';
import type { StatusWord } from '#model/sms-status-words.ts';
import type { PartHistory, TimeLineEvent } from '#model/sms-time-line.ts';
import type { DeliveryAttempt } from '#model/webhook.ts';
import { encodeGsm7 } from '#sms/smpp/gsm7.ts';
import { readNumbers } from '../sms/sms-refusals.ts';
import type { Look } from './wire-domain.ts';
import { DEFAULT_PAGE_SIZE, readPage, writeFlag } from './wire-values.ts';
import type { Writers } from './writers.ts';

type SearchRoute =
  | `sms.${'find' | 'getMessage' | 'statistics' | 'split' | 'testWebhook'}`
  | `sms.list${'Apps' | 'Ledger' | 'Deliveries'}`;

export type SumKey = NonNullable<RequestOf<'sms.statistics'>['by']>[number];

export interface MessageSum {
  /** Empty, as of the other keys: not by it. */
  readonly day: string;
  readonly appKey: string;
  readonly state: PartState | '';
  readonly messages: number;
  readonly parts: number;
  readonly price: number;
}

interface MessageSums {
  readonly list: readonly MessageSum[];
  readonly from: number;
  readonly to: number;
  readonly isComplete: boolean;
}

export interface MessageView extends MessageHistory {
  readonly parts: readonly (PartHistory & {
    /** Meaning of the last word by its connector's table. */
    readonly meaning: StatusWord | undefined;
    readonly events: readonly (TimeLineEvent & { readonly connector: string })[];
  })[];
}

interface SplitView {
  readonly parts: readonly string[];
  readonly numbers: number;
  readonly optedOut: number;
  readonly price: number;
  readonly currency: Currency;
}

interface LedgerView {
  readonly balance: number;
  readonly entries: readonly LedgerEntry[];
  readonly currency: Currency;
}

export const READ_SMS_SEARCH = {
  'sms.find': ({ mobile, status, app_key, from, to, cursor, page_size }) => ({
    appKey: app_key,
    number: mobile === undefined ? undefined : readNumber(mobile),
    states: status,
    from,
    to,
    after: cursor === undefined ? undefined : readPlace(cursor),
    limit: page_size ?? DEFAULT_PAGE_SIZE,
  }),
  'sms.getMessage': ({ sendid, mobile }) => ({ sendid, number: readNumber(mobile) }),
  'sms.statistics': ({ app_key, from, to, by }) => ({ appKey: app_key, from, to, keys: by }),
  'sms.split': ({ app_key, kind, mobile, content }) => ({
    appKey: app_key,
    kind: kind ?? ('ordinary' as const),
    mobile,
    content,
  }),
  'sms.listLedger': ({ before, page_size }) => ({ before, limit: page_size ?? DEFAULT_PAGE_SIZE }),
  'sms.listApps': (request) => readPage(request),
  'sms.testWebhook': ({ app_key }) => ({ appKey: app_key }),
  'sms.listDeliveries': ({ app_key }) => ({ appKey: app_key }),
} satisfies { readonly [N in SearchRoute]: (request: RequestOf<N>) => unknown };

export const WRITE_SMS_SEARCH = {
  'sms.find': ({ list, next, searchedUntil = 0 }: MessagePage) => ({
    list: list.map(({ sendid, appKey, kind, destination, state, parts, price, createdAt }) => ({
      ...{ sendid, app_key: appKey, kind, mobile: destination, status: state, parts },
      price: parts * price,
      created_at: createdAt,
    })),
    next: next === undefined ? '' : `${next.requestId}.${next.messageId}`,
    searched_until: searchedUntil,
  }),
  'sms.getMessage': (message: MessageView, { locale }) => ({
    ...{ sendid: message.sendid, app_key: message.appKey, kind: message.kind, mobile: message.destination },
    status: messageStateOf(message.parts.map(({ state }) => state)),
    price: message.price,
    created_at: message.createdAt,
    parts: message.parts.map(({ part, state, meaning, events }) => ({
      part,
      status: state,
      events: events.map((event) => writeEvent(event, meaning, locale)),
    })),
  }),
  'sms.statistics': ({ list, from, to, isComplete }: MessageSums) => ({
    list: list.map(({ appKey, state, ...sum }) => ({ ...sum, app_key: appKey, status: state })),
    from,
    to,
    is_complete: isComplete,
  }),
  'sms.split': ({ parts, numbers, optedOut, price, currency }: SplitView) => ({
    characters: parts.join('').length,
    alphabet: encodeGsm7(parts.join('')) === undefined ? ('ucs2' as const) : ('gsm7' as const),
    parts: parts.map((text, index) => ({ part: index + 1, text, characters: text.length })),
    numbers,
    opted_out: optedOut,
    price,
    ...writeCurrency(currency),
  }),
  'sms.listLedger': ({ balance, entries, currency }: LedgerView, look) => ({
    balance,
    ...writeCurrency(currency),
    list: entries.map((entry) => writeEntry(entry, look)),
  }),
  'sms.listApps': ({ total, apps }: { readonly total: number; readonly apps: readonly SmsAppView[] }) => ({
    total,
    list: apps.map(({ appKey, name, isEnabled, hasWebhook, createdAt }) => ({
      ...{ app_key: appKey, name, status: writeStatus(isEnabled), has_webhook: writeFlag(hasWebhook) },
      created_at: createdAt,
    })),
  }),
  'sms.testWebhook': writeAnswer,
  'sms.listDeliveries': ({
    waiting,
    list,
  }: {
    readonly waiting: number;
    readonly list: readonly DeliveryAttempt[];
  }) => ({
    waiting,
    list: list.map((attempt) => ({
      delivery_id: String(attempt.deliveryId),
      event: attempt.event,
      sendid: attempt.sendid,
      at: attempt.at,
      tries: attempt.tries,
      outcome: attempt.outcome,
      ...writeAnswer(attempt),
    })),
  }),
} satisfies Writers<SearchRoute>;

interface SmsAppView extends SmsApp {
  readonly hasWebhook: boolean;
}

/** 0 disabled, 1 available. */
export function writeStatus(isEnabled: boolean): 0 | 1 {
  return isEnabled ? 1 : 0;
}

export function writeCurrency({ code, units }: Currency) {
  return { currency: code, currency_units: units };
}

export function writeEntry(entry: LedgerEntry, { formatTime }: Look): DataOf<'sms.listLedger'>['list'][0] {
  return {
    entry_id: String(entry.id),
    kind: entry.kind,
    amount: entry.amount,
    create_time: formatTime(entry.createdAt),
    sendid: entry.sendid ?? '',
    mobile: entry.destination ?? '',
    part: entry.part ?? 0,
    reference: entry.reference ?? '',
  };
}

/** What the word means in the connector's table, in the language that it has a text in. */
export function textOf(meaning: StatusWord | undefined, locale: Locale): string {
  const { text = {} } = meaning ?? {};
  return text[locale] || text['zh-CN'] || text.en || '';
}

/** Throws `ServiceError`. */
export function readNumber(mobile: string): string {
  const [number = ''] = readNumbers([mobile]);
  return number;
}

function readPlace(cursor: string): SearchPlace {
  const [requestId = 0, messageId = 0] = cursor.split('.').map(Number);
  return { requestId, messageId };
}

function writeEvent(
  { at, kind, connector, carrierId = '', error = '', word = '' }: TimeLineEvent & { readonly connector: string },
  meaning: StatusWord | undefined,
  locale: Locale,
) {
  const text = (word === '' ? '' : textOf(meaning, locale)) || (explainSmsError(error || word)?.[locale] ?? '');
  return { at, kind, connector, carrier_id: carrierId, error, word, text };
}

function writeAnswer({ status, reason, tookMs, answer }: DeliveryAttempt): DataOf<'sms.testWebhook'> {
  return { status, reason, took_ms: tookMs, answer };
}
