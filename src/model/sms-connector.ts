/** The settings of a connector, the way to a carrier, as they are stored; the password is sealed there. */
import type { StatusWord } from './sms-status-words.ts';

export type ConnectorSettings = LoopbackSettings | CarrierSettings;
export type CarrierSettings = SmppSettings | CmppSettings | SmgpSettings | SgipSettings;
export type ConnectorKind = ConnectorSettings['kind'];
export type CarrierKind = CarrierSettings['kind'];

export interface LoopbackSettings {
  readonly kind: 'loopback';
}

/** Where a carrier listens. */
export interface CarrierAddress {
  readonly host: string;
  readonly port: number;
  /** Absent: no TLS. */
  readonly tls?: CarrierTls;
}

/** What keeps the sessions with a carrier up, whatever they speak. */
export interface LinkSettings extends CarrierAddress {
  /** Parts that may wait for their answer, on each connection. */
  readonly window: number;
  /** Silence of the carrier after which it is asked whether it is there. */
  readonly enquireSeconds: number;
  /** Silence of the carrier that ends the session; more than `enquireSeconds`. */
  readonly inactivitySeconds: number;
  readonly bindSeconds: number;
  readonly responseSeconds: number;
}

/** What every connector to a carrier has. */
interface CommonSettings extends LinkSettings {
  /** Limit of 8 characters in the standard of SMPP, 15 here: many carriers accept more. */
  readonly password: string;
  /** Sender of messages that name none: digits, or with SMPP up to 11 ASCII letters; may be empty there. */
  readonly sender: string;
  /** Sessions that the carrier allows, each at another control; they share the rate, and with SMPP the window. */
  readonly sessions: number;
  /** The carrier's own words, before those that everybody knows. docs/decisions/0422 */
  readonly statusWords: readonly StatusWord[];
  /** `ignore`: its receipts name another number than the message went to. docs/decisions/0427 */
  readonly receiptNumber: ReceiptNumber;
  /** What becomes of the price of a part of which no answer and no receipt ever came. docs/decisions/0426 */
  readonly unknownAfter: UnknownAfter;
}

export interface SmppSettings extends CommonSettings {
  readonly kind: 'smpp';
  /** `pair`: a transmitter and a receiver, for carriers that know no transceiver. */
  readonly bind: 'transceiver' | 'pair';
  /** ASCII of at most 15 characters. */
  readonly systemId: string;
  /** ASCII of at most 12 characters. */
  readonly systemType: string;
  /** 0x34; with 0x33 no optional parameter is sent. */
  readonly interfaceVersion: number;
  /** Absent: by the sender's form, alphanumeric, international or unknown. */
  readonly senderType?: AddressType;
  /** International by E.164. */
  readonly destinationType: AddressType;
  /** How the parts of a long message are numbered: in a header of the text, or in optional parameters. */
  readonly concatenation: 'udh' | 'sar';
  /** Texts whose every character GSM 03.38 has go out in it; the parts stay the same. docs/decisions/0203 */
  readonly gsm7: boolean;
  /**
   * How receipts write the id of the response: unchanged, converted from hexadecimal to decimal or back, or unknown.
   */
  readonly receiptIds: ReceiptIds;
  /** Minutes that the carrier's clock is ahead of UTC. */
  readonly receiptZoneMinutes: number;
  /** Receipts that are not marked as such, only by their text. A phone can write such a text too. */
  readonly unmarkedReceipts: boolean;
  /** 0: no receipts, 1: of every end, 2: of failures. */
  readonly registeredDelivery: number;
}

/** What the protocols of China's carriers have alike. docs/decisions/0753 */
export interface GatewaySettings extends CommonSettings {
  /** SP_Id of CMPP, ClientID of SMGP, Login_Name of SGIP. */
  readonly account: string;
  /** The enterprise's code (企业代码); absent: the account. */
  readonly corpId?: string;
  /** Code of the service, as agreed with the carrier. */
  readonly serviceId: string;
  readonly feeType: string;
  readonly feeCode: string;
  /** Receipts that are requested; only SGIP has those of failures alone. */
  readonly receipts: 'all' | 'failures' | 'none';
  /** `auto`: GB18030 where each part of a message fits so, else UCS-2. */
  readonly coding: 'ucs2' | 'gb18030' | 'auto';
  /** Value of TP_udhi of a part with a header. */
  readonly udhiValue: 1 | 64;
  /** How numbers of the mainland are written. */
  readonly numberForm: 'bare' | '86' | 'plus86';
  /** Meaning of the gateway's own results, before that of the standard, by their decimal number. */
  readonly results: Readonly<Record<string, ResultClass>>;
  /** What the gateway is told of a delivery that cannot be stored: nothing, or that we are busy. */
  readonly again: 'silence' | 'busy';
  /** Connections of each session. docs/decisions/0754 */
  readonly connections: number;
}

export interface CmppSettings extends GatewaySettings {
  /** CMPP 2.0 or 3.0. */
  readonly kind: 'cmpp2' | 'cmpp3';
  /** Fee_UserType, the payer: 0 the phone, 1 the sender by its number, 2 the service. */
  readonly feeUserType: number;
  /** `one`: each part says that it is 1 of 1, as some gateways want; its user data header has the true numbers. */
  readonly pk: 'parts' | 'one';
  /** `6`: a shorter account is filled with zeros in the login's digest. */
  readonly accountPadding: 'none' | '6';
}

export interface SmgpSettings extends GatewaySettings {
  readonly kind: 'smgp';
}

/** The gateway opens sessions of its own for receipts and replies. docs/decisions/0759 */
export interface SgipSettings extends GatewaySettings {
  readonly kind: 'sgip';
  readonly corpId: string;
  /** Our node number: 3, the area code in four digits, and the enterprise's code, such as 3010012345. */
  readonly node: number;
  /** Where we listen for the gateway. */
  readonly listen: { readonly host: string; readonly port: number };
  /** Addresses and networks that the gateway connects from; never empty. */
  readonly allow: readonly string[];
  /** Name that the gateway gives us; absent: the account. Its password is the connector's. */
  readonly gatewayAccount?: string;
}

/** What a refusal of a gateway is about; see `RefusalClass` of `sms/carrier.ts`. */
export const RESULT_CLASSES = ['throttled', 'transient', 'permanent', 'misconfigured'] as const;
export type ResultClass = (typeof RESULT_CLASSES)[number];

/** Type of number and numbering plan, as in SMPP. */
export interface AddressType {
  readonly ton: number;
  readonly npi: number;
}

interface CarrierTls {
  /** PEM; absent: the public authorities. */
  readonly ca?: string;
  /** Absent: the host. */
  readonly serverName?: string;
}

/** `hex`, `decimal`: what receipts write, where the answer had the other. */
export type ReceiptIds = 'same' | 'hex' | 'decimal' | 'auto';

/** Whether a receipt speaks only of parts to the number that it names. */
type ReceiptNumber = 'check' | 'ignore';

export type UnknownAfter = 'charge' | 'refund';

/** What a connector has that only names the carrier and its account. */
export const SMPP_DEFAULTS = {
  bind: 'transceiver',
  systemType: '',
  interfaceVersion: 0x34,
  sender: '',
  destinationType: { ton: 1, npi: 1 },
  window: 10,
  sessions: 1,
  enquireSeconds: 30,
  inactivitySeconds: 40,
  bindSeconds: 10,
  responseSeconds: 30,
  concatenation: 'udh',
  gsm7: false,
  receiptIds: 'auto',
  receiptZoneMinutes: 480,
  statusWords: [],
  unmarkedReceipts: false,
  receiptNumber: 'check',
  unknownAfter: 'charge',
  registeredDelivery: 1,
} as const satisfies Partial<SmppSettings>;

const GATEWAY_DEFAULTS = {
  window: 16,
  sessions: 1,
  connections: 1,
  enquireSeconds: 30,
  inactivitySeconds: 90,
  bindSeconds: 10,
  responseSeconds: 60,
  serviceId: '',
  feeCode: '0',
  receipts: 'all',
  coding: 'ucs2',
  udhiValue: 1,
  numberForm: 'bare',
  results: {},
  statusWords: [],
  receiptNumber: 'check',
  unknownAfter: 'charge',
  again: 'silence',
} as const satisfies Partial<GatewaySettings>;

const CMPP_DEFAULTS = {
  ...GATEWAY_DEFAULTS,
  feeType: '01',
  feeUserType: 2,
  pk: 'parts',
  accountPadding: 'none',
} as const satisfies Partial<CmppSettings>;

/** `00`: free of charge for the phone. */
const SMGP_DEFAULTS = { ...GATEWAY_DEFAULTS, feeType: '00' } as const satisfies Partial<SmgpSettings>;

/** FeeType 1: free of charge for the phone. */
const SGIP_DEFAULTS = {
  ...GATEWAY_DEFAULTS,
  feeType: '1',
  numberForm: '86',
} as const satisfies Partial<SgipSettings>;

/** Defaults of each kind; a connector without a carrier has none. */
export const CONNECTOR_DEFAULTS = {
  loopback: {},
  smpp: SMPP_DEFAULTS,
  cmpp2: CMPP_DEFAULTS,
  cmpp3: CMPP_DEFAULTS,
  smgp: SMGP_DEFAULTS,
  sgip: SGIP_DEFAULTS,
} as const satisfies Readonly<Record<ConnectorKind, object>>;
