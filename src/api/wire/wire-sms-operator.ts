/** The operators' operations of SMS, their words on the wire and in the model. Used by `wire.ts` only. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import type { LedgerEntry, SmsPrice } from '#db/tables/sms/balance.ts';
import type { StoredConnector } from '#db/tables/sms/connectors.ts';
import type { UnreadView } from '#db/tables/sms/unread.ts';
import { toModelNames } from '#lib/model-names.ts';
import type { SmsApp } from '#model/sms-app.ts';
import { type AddressType, SMPP_DEFAULTS, type SmppSettings } from '#model/sms-connector.ts';
import { readNumbers } from '../sms/sms-refusals.ts';
import { connectorRevision } from '../sms/sms-revisions.ts';
import { readOptOutPage, writeOptOuts } from './wire-sms.ts';
import { writeEntry, writeStatus } from './wire-sms-search.ts';
import { READ_SMS_STATES, WRITE_SMS_STATES } from './wire-sms-states.ts';
import { readStatusWord, writeStatusWord } from './wire-status-words.ts';
import { DEFAULT_PAGE_SIZE, readPage, writeFlag } from './wire-values.ts';
import type { Writers } from './writers.ts';

type OperatorRoute = Extract<RouteName, `smsOperator.${string}`>;

/** What is `undefined` stays as it is. */
export interface ConnectorChange {
  readonly name: string;
  readonly kind: 'smpp' | 'loopback' | undefined;
  readonly enabled: boolean | undefined;
  /** 0: none. */
  readonly partsPerSecond: number | undefined;
  readonly tls: {
    readonly isOn: boolean | undefined;
    readonly ca: string | undefined;
    readonly serverName: string | undefined;
  };
  readonly senderType: AddressType | 'byForm' | undefined;
  readonly smpp: {
    readonly [K in keyof Omit<SmppSettings, 'kind' | 'tls' | 'senderType'>]?: SmppSettings[K] | undefined;
  };
}

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

function readConnector(request: RequestOf<'smsOperator.setConnector'>): ConnectorChange {
  const { name, kind, enabled, rate, tls, tls_ca, tls_server_name, sender_type, if_revision: _, ...rest } = request;
  const { interface_version, destination_type, registered_delivery, status_words, ...plain } = rest;
  return {
    name,
    kind,
    enabled,
    partsPerSecond: rate,
    tls: { isOn: tls, ca: tls_ca, serverName: tls_server_name },
    senderType: sender_type === undefined ? undefined : (readAddressType(sender_type) ?? 'byForm'),
    smpp: {
      ...toModelNames(plain),
      interfaceVersion: interface_version && Number.parseInt(interface_version, 16),
      destinationType: readDestinationType(destination_type),
      registeredDelivery: registered_delivery && Number(registered_delivery),
      statusWords: status_words?.map(readStatusWord),
    },
  };
}

function writeConnector({
  name,
  enabled,
  partsPerSecond = 0,
  settings,
}: StoredConnector): Omit<DataOf<'smsOperator.listConnectors'>['list'][0], 'revision'> {
  const common = { name, kind: settings.kind, enabled: writeFlag(enabled), rate: partsPerSecond };
  if (settings.kind === 'loopback') return common;
  return {
    ...common,
    host: settings.host,
    port: settings.port,
    tls: writeFlag(settings.tls !== undefined),
    tls_server_name: settings.tls?.serverName ?? '',
    bind: settings.bind,
    system_id: settings.systemId,
    system_type: settings.systemType,
    interface_version: VERSIONS[settings.interfaceVersion] ?? '34',
    sender: settings.sender,
    sender_type: settings.senderType === undefined ? '' : writeAddressType(settings.senderType),
    destination_type: writeAddressType(settings.destinationType),
    window: settings.window,
    sessions: settings.sessions,
    bind_seconds: settings.bindSeconds,
    enquire_seconds: settings.enquireSeconds,
    response_seconds: settings.responseSeconds,
    registered_delivery: RECEIPTS[settings.registeredDelivery] ?? '1',
    concatenation: settings.concatenation,
    gsm7: writeFlag(settings.gsm7),
    receipt_ids: settings.receiptIds,
    receipt_zone_minutes: settings.receiptZoneMinutes,
    unmarked_receipts: writeFlag(settings.unmarkedReceipts),
    status_words: settings.statusWords.map(writeStatusWord),
    receipt_number: settings.receiptNumber,
    unknown_after: settings.unknownAfter,
  };
}

const VERSIONS: Readonly<Record<number, '33' | '34' | '50'>> = { 51: '33', 52: '34', 80: '50' };
const RECEIPTS = ['0', '1', '2'] as const;

/** TON and NPI with a comma between them; `undefined`: by the form of the address. */
function readAddressType(text: string): AddressType | undefined {
  const [ton, npi] = text.split(',').map(Number);
  return ton === undefined || npi === undefined ? undefined : { ton, npi };
}

/** Reads the type of a destination; the numbers themselves are E.164. */
function readDestinationType(text: string | undefined): AddressType | undefined {
  return text === undefined ? undefined : (readAddressType(text) ?? SMPP_DEFAULTS.destinationType);
}

function writeAddressType({ ton, npi }: AddressType): string {
  return `${ton},${npi}`;
}
