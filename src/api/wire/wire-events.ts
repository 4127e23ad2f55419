/** The wire's names of what there is to say of events. */

import type { DataOf, RequestOf } from '#contract/operations.ts';
import { describeEvent } from '#contract/operators/event-texts.ts';
import type { RouteName } from '#contract/routes.ts';
import type { ServiceEvent } from '#model/event.ts';
import type { StoredWebhook } from '#model/webhook.ts';
import type { Look } from './wire-domain.ts';
import { readPage, writeSeconds } from './wire-values.ts';
import type { Writers } from './writers.ts';

type EventRoute = Exclude<Extract<RouteName, `event.${string}` | `eventOperator.${string}`>, 'event.watch'>;

interface EventPage {
  readonly total: number;
  readonly events: readonly ServiceEvent[];
}

export const READ_EVENTS = {
  'event.list': ({ kinds, severity, ...page }) => ({ kinds, severity, ...readPage(page) }),
  'event.getWebhook': () => undefined,
  'event.setWebhook': readWebhook,
  'eventOperator.list': ({ kinds, severity, account_id, ...page }) => ({
    kinds,
    severity,
    accountId: account_id,
    ...readPage(page),
  }),
  'eventOperator.getWebhook': () => undefined,
  'eventOperator.setWebhook': readWebhook,
} satisfies { readonly [N in EventRoute]: (request: RequestOf<N>) => unknown };

export const WRITE_EVENTS = {
  'event.list': writePage,
  'event.getWebhook': writeWebhook,
  'event.setWebhook': writeWebhook,
  'eventOperator.list': writePage,
  'eventOperator.getWebhook': writeWebhook,
  'eventOperator.setWebhook': writeWebhook,
} satisfies Writers<EventRoute>;

function readWebhook({ url, rotate }: RequestOf<'event.setWebhook'>) {
  return { url, isRotated: rotate === '1' };
}

function writePage({ total, events }: EventPage, { locale }: Look): DataOf<'event.list'> {
  return {
    total,
    list: events.map((event) => ({
      event_id: String(event.id),
      time: writeSeconds(event.at),
      kind: event.kind,
      severity: event.severity,
      account_id: event.accountId === undefined ? '' : String(event.accountId),
      target: { ...event.target },
      actor: event.actor,
      data: { ...event.data },
      text: describeEvent(event, locale),
    })),
  };
}

function writeWebhook(webhook: StoredWebhook | undefined): DataOf<'event.getWebhook'> {
  return { url: webhook?.url ?? '', secret: webhook?.secret ?? '' };
}
