/** The settings of a connector, the way to a carrier, as they are stored; the password is sealed there. */
import type { StatusWord } from './sms-status-words.ts';

export type ConnectorSettings = LoopbackSettings | SmppSettings;

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
  /** Parts that may wait for their answer. */
  readonly window: number;
  /** Silence of the carrier after which it is asked whether it is there. */
  readonly enquireSeconds: number;
  /** Silence of the carrier that ends the session; more than `enquireSeconds`. */
  readonly inactivitySeconds: number;
  readonly bindSeconds: number;
  readonly responseSeconds: number;
}

export interface SmppSettings extends LinkSettings {
  readonly kind: 'smpp';
  /** `pair`: a transmitter and a receiver, for carriers that know no transceiver. */
  readonly bind: 'transceiver' | 'pair';
  /** ASCII of at most 15 characters. */
  readonly systemId: string;
  /** Limit of 8 characters in the standard, 15 here: many carriers accept more. */
  readonly password: string;
  /** ASCII of at most 12 characters. */
  readonly systemType: string;
  /** 0x34; with 0x33 no optional parameter is sent. */
  readonly interfaceVersion: number;
  /** Sender of messages that name none: digits, or up to 11 ASCII letters; may be empty. */
  readonly sender: string;
  /** Absent: by the sender's form, alphanumeric, international or unknown. */
  readonly senderType?: AddressType;
  /** International by E.164. */
  readonly destinationType: AddressType;
  /** Sessions that the carrier allows, each at another control; they share the window and the rate. */
  readonly sessions: number;
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
  /** The carrier's own words, before those that everybody knows. docs/decisions/0422 */
  readonly statusWords: readonly StatusWord[];
  /** Receipts that are not marked as such, only by their text. A phone can write such a text too. */
  readonly unmarkedReceipts: boolean;
  /** `ignore`: its receipts name another number than the message went to. docs/decisions/0427 */
  readonly receiptNumber: ReceiptNumber;
  /** What becomes of the price of a part of which no answer and no receipt ever came. docs/decisions/0426 */
  readonly unknownAfter: UnknownAfter;
  /** 0: no receipts, 1: of every end, 2: of failures. */
  readonly registeredDelivery: number;
}

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
