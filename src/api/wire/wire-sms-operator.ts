/** The operators' operations of SMS, their words on the wire and in the model. Used by `wire.ts` only. */
import type { RequestOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import type { LedgerEntry, SmsPrice } from '#db/tables/sms/balance.ts';
import type { StoredConnector } from '#db/tables/sms/connectors.ts';
import type { UnreadView } from '#db/tables/sms/unread.ts';
import type { SmsApp } from '#model/sms-app.ts';
import { readNumbers } from '../sms/sms-refusals.ts';
import { connectorRevision } from '../sms/sms-revisions.ts';
import { readConnector, writeConnector } from './wire-connector.ts';
import { readOptOutPage, writeOptOuts } from './wire-sms.ts';
import { writeEntry, writeStatus } from './wire-sms-search.ts';
import { READ_SMS_STATES, WRITE_SMS_STATES } from './wire-sms-states.ts';
import { DEFAULT_PAGE_SIZE, readPage, writeFlag } from './wire-values.ts';
import type { Writers } from './writers.ts';

type OperatorRoute = Extract<RouteName, `smsOperator.${string}`>;

interface RouteView {
  readonly prefix: string;
  readonly connectors: readonly string[];
  readonly revision: number;
}

export const READ_SMS_OPERATOR = {
  'smsOperator.createApp': ({ account_id, name, balance }) => ({ accountId: account_id, name, balance: balance ?? 0 }),
  'smsOperator.listApps': (request) => ({ ...readPage(request), accountId: request.account_id }),
  'smsOperator.recharge': ({ account_id, amount, reference }) => ({ accountId: account_id, amount, reference }),
  'smsOperator.listLedger': ({ account_id, before, page_size }) => ({
    accountId: account_id,
    before,
    limit: page_size ?? DEFAULT_PAGE_SIZE,
  }),
  'smsOperator.setPrice': ({ kind, prefix, price }) => ({ kind, prefix: prefix ?? '', price }),
  'smsOperator.listPrices': () => undefined,
  'smsOperator.setConnector': readConnector,
  'smsOperator.listConnectors': () => undefined,
  'smsOperator.testConnector': ({ name }) => ({ name }),
  'smsOperator.deleteConnector': ({ name }) => ({ name }),
  'smsOperator.setRoute': ({ prefix, connectors }) => ({ prefix: prefix ?? '', connectors: [...new Set(connectors)] }),
  'smsOperator.listRoutes': () => undefined,
  'smsOperator.listUnread': ({ before, page_size }) => ({ before, limit: page_size ?? DEFAULT_PAGE_SIZE }),
  'smsOperator.setOptOuts': ({ mobile, opted_out }) => ({ numbers: readNumbers(mobile), isOptedOut: opted_out }),
  'smsOperator.getOptOuts': readOptOutPage,
  ...READ_SMS_STATES,
} satisfies { readonly [N in OperatorRoute]: (request: RequestOf<N>) => unknown };

export const WRITE_SMS_OPERATOR = {
  'smsOperator.createApp': ({ app, balance }: { readonly app: SmsApp; readonly balance: number }) => ({
    app_key: app.appKey,
    account_id: String(app.accountId),
    balance,
  }),
  'smsOperator.listApps': ({ total, apps }: { readonly total: number; readonly apps: readonly SmsApp[] }, look) => ({
    total,
    list: apps.map(({ appKey, accountId, name, isEnabled, createdAt }) => ({
      app_key: appKey,
      account_id: String(accountId),
      name,
      status: writeStatus(isEnabled),
      create_time: look.formatTime(createdAt),
    })),
  }),
  'smsOperator.recharge': (balance: number) => ({ balance }),
  'smsOperator.listLedger': (
    { balance, entries }: { readonly balance: number; readonly entries: readonly LedgerEntry[] },
    look,
  ) => ({ balance, list: entries.map((entry) => writeEntry(entry, look)) }),
  'smsOperator.listPrices': (prices: readonly SmsPrice[]) => ({
    list: prices.map(({ kind, prefix, price }) => ({ kind, prefix, price })),
  }),
  'smsOperator.listConnectors': (connectors: readonly StoredConnector[]) => ({
    list: connectors.map((connector) => ({
      ...writeConnector(connector),
      revision: String(connectorRevision(connector)),
    })),
  }),
  'smsOperator.testConnector': ({ isBound, detail }: { readonly isBound: boolean; readonly detail: string }) => ({
    bound: writeFlag(isBound),
    detail,
  }),
  'smsOperator.listRoutes': (routes: readonly RouteView[]) => ({
    list: routes.map(({ prefix, connectors, revision }) => ({
      prefix,
      connectors: [...connectors],
      revision: String(revision),
    })),
  }),
  'smsOperator.listUnread': (page: { readonly list: readonly UnreadView[]; readonly next: string }, look) => ({
    list: page.list.map(({ id, connector = '', reason, command, octets, receivedAt }) => ({
      ...{ unread_id: String(id), connector, reason, command, octets },
      create_time: look.formatTime(receivedAt),
    })),
    next: page.next,
  }),
  'smsOperator.setOptOuts': (isDone: boolean) => isDone,
  'smsOperator.getOptOuts': writeOptOuts,
  ...WRITE_SMS_STATES,
} satisfies Writers<OperatorRoute>;
