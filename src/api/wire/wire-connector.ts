/** Connectors on the wire and in the model. Used by `wire-sms-operator.ts` only. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { StoredConnector } from '#db/tables/sms/connectors.ts';
import { formatListenAddress } from '#lib/listen-address.ts';
import { toModelNames } from '#lib/model-names.ts';
import {
  type AddressType,
  type CmppSettings,
  type ConnectorKind,
  type GatewaySettings,
  RESULT_CLASSES,
  type ResultClass,
  type SgipSettings,
  SMPP_DEFAULTS,
  type SmppSettings,
} from '#model/sms-connector.ts';
import { readStatusWord, writeStatusWord } from './wire-status-words.ts';
import { writeFlag } from './wire-values.ts';

/** What is `undefined` stays as it is. */
export interface ConnectorChange {
  readonly name: string;
  readonly kind: ConnectorKind | undefined;
  readonly enabled: boolean | undefined;
  /** 0: none. */
  readonly partsPerSecond: number | undefined;
  readonly tls: {
    readonly isOn: boolean | undefined;
    readonly ca: string | undefined;
    readonly serverName: string | undefined;
  };
  readonly senderType: AddressType | 'byForm' | undefined;
  /** Other settings, whatever kind has them. */
  readonly settings: { readonly [K in keyof OtherSettings]?: OtherSettings[K] | undefined };
  /** Names on the wire of the settings that are given. */
  readonly given: readonly string[];
}

type OtherSettings = Omit<SmppSettings, 'kind' | 'tls' | 'senderType'> &
  Omit<CmppSettings, 'kind' | 'tls'> &
  Omit<SgipSettings, 'kind' | 'tls'>;

export function readConnector(request: RequestOf<'smsOperator.setConnector'>): ConnectorChange {
  const { name, kind, enabled, rate, if_revision: _, ...fields } = request;
  const { tls, tls_ca, tls_server_name, sender_type, ...rest } = fields;
  const {
    interface_version,
    destination_type,
    registered_delivery,
    status_words,
    udhi_value,
    results,
    listen,
    ...plain
  } = rest;
  return {
    name,
    kind,
    enabled,
    partsPerSecond: rate,
    tls: { isOn: tls, ca: tls_ca, serverName: tls_server_name },
    senderType: sender_type === undefined ? undefined : (readAddressType(sender_type) ?? 'byForm'),
    settings: {
      ...toModelNames(plain),
      interfaceVersion: interface_version && Number.parseInt(interface_version, 16),
      destinationType: readDestinationType(destination_type),
      registeredDelivery: registered_delivery && Number(registered_delivery),
      statusWords: status_words?.map(readStatusWord),
      udhiValue: udhi_value && UDHI_VALUES[udhi_value],
      results: results && Object.fromEntries(results.map(readResult)),
      listen: listen === undefined ? undefined : readListen(listen),
    },
    given: Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [field])),
  };
}

type ConnectorData = Omit<DataOf<'smsOperator.listConnectors'>['list'][0], 'revision'>;

export function writeConnector({ name, enabled, partsPerSecond = 0, settings }: StoredConnector): ConnectorData {
  const common = { name, kind: settings.kind, enabled: writeFlag(enabled), rate: partsPerSecond };
  if (settings.kind === 'loopback') return common;
  return {
    ...common,
    host: settings.host,
    port: settings.port,
    tls: writeFlag(settings.tls !== undefined),
    tls_server_name: settings.tls?.serverName ?? '',
    sender: settings.sender,
    window: settings.window,
    sessions: settings.sessions,
    bind_seconds: settings.bindSeconds,
    enquire_seconds: settings.enquireSeconds,
    response_seconds: settings.responseSeconds,
    status_words: settings.statusWords.map(writeStatusWord),
    receipt_number: settings.receiptNumber,
    unknown_after: settings.unknownAfter,
    ...(settings.kind === 'smpp' ? writeSmpp(settings) : writeGateway(settings)),
    ...((settings.kind === 'cmpp2' || settings.kind === 'cmpp3') && writeCmpp(settings)),
    ...(settings.kind === 'sgip' && writeSgip(settings)),
  };
}

function writeSmpp(settings: Omit<SmppSettings, 'password'>) {
  return {
    bind: settings.bind,
    system_id: settings.systemId,
    system_type: settings.systemType,
    interface_version: VERSIONS[settings.interfaceVersion] ?? '34',
    sender_type: settings.senderType === undefined ? '' : writeAddressType(settings.senderType),
    destination_type: writeAddressType(settings.destinationType),
    registered_delivery: RECEIPTS[settings.registeredDelivery] ?? '1',
    concatenation: settings.concatenation,
    gsm7: writeFlag(settings.gsm7),
    receipt_ids: settings.receiptIds,
    receipt_zone_minutes: settings.receiptZoneMinutes,
    unmarked_receipts: writeFlag(settings.unmarkedReceipts),
  };
}

function writeGateway(settings: Omit<GatewaySettings, 'password'>) {
  return {
    account: settings.account,
    corp_id: settings.corpId ?? '',
    service_id: settings.serviceId,
    fee_type: settings.feeType,
    fee_code: settings.feeCode,
    receipts: settings.receipts,
    coding: settings.coding,
    udhi_value: settings.udhiValue === 1 ? ('1' as const) : ('64' as const),
    number_form: settings.numberForm,
    results: Object.entries(settings.results).map(([result, of]) => `${result}=${of}`),
    again: settings.again,
    connections: settings.connections,
  };
}

function writeCmpp(settings: Omit<CmppSettings, 'password'>) {
  return { fee_user_type: settings.feeUserType, pk: settings.pk, account_padding: settings.accountPadding };
}

function writeSgip({ node, listen, allow, gatewayAccount = '' }: Omit<SgipSettings, 'password'>) {
  return { node, listen: formatListenAddress(listen), allow: [...allow], gateway_account: gatewayAccount };
}

/** Reads an address that the contract has checked. */
function readListen(address: string): SgipSettings['listen'] {
  const at = address.lastIndexOf(':');
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(address.slice(at + 1)) };
}

const VERSIONS: Readonly<Record<number, '33' | '34' | '50'>> = { 51: '33', 52: '34', 80: '50' };
const RECEIPTS = ['0', '1', '2'] as const;
const UDHI_VALUES = { '1': 1, '64': 64 } as const;

/** Reads an entry that the contract has checked. */
function readResult(entry: string): readonly [string, ResultClass] {
  const [result = '', name] = entry.split('=');
  return [result, RESULT_CLASSES.find((one) => one === name) ?? 'permanent'];
}

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
