/** A delivery receipt, in whichever dialect, → what the engine understands. Pure. docs/decisions/0206 */
import type { SmppSettings } from '#model/sms-connector.ts';
import type { Receipt, ReceiptState } from '../carrier.ts';
import { receiptKeys } from './carrier-id.ts';
import { decodeText } from './data-coding.ts';
import type { Tlv } from './layouts.ts';
import { readReceiptDate } from './receipt-date.ts';
import { numberTlv, TAGS, textTlv, tlvOf } from './tlvs.ts';

export type ReceiptDialect = Pick<SmppSettings, 'receiptIds' | 'receiptZoneMinutes'>;

export interface ReceiptSource {
  readonly dataCoding: number;
  readonly octets: Buffer;
  readonly tlvs: readonly Tlv[];
  /** Whom the receipt is from: where the message went. */
  readonly destination: string;
}

/** What is kept of a carrier's words: each has a few, or none of them is for people. */
const MAX_RAW_LETTERS = 1_000;
const MAX_ERROR_LETTERS = 40;
const MAX_ID_LETTERS = 255;

export function readReceipt(
  { dataCoding, octets, tlvs, destination }: ReceiptSource,
  dialect: ReceiptDialect,
): Receipt {
  const text = receiptText(dataCoding, octets);
  const fields = readFields(text);
  const tlvId = textTlv(tlvs, TAGS.receiptedMessageId)?.slice(0, MAX_ID_LETTERS) ?? '';
  const textId = fields.get('id')?.slice(0, MAX_ID_LETTERS) ?? '';
  const doneAt = readReceiptDate(fields.get('donedate') ?? '', dialect.receiptZoneMinutes);
  const reference = numberTlv(tlvs, TAGS.userMessageReference);
  return {
    carrierId: textId || tlvId,
    keys: receiptKeys(textId, tlvId, dialect.receiptIds),
    state: stateOf(fields.get('stat'), numberTlv(tlvs, TAGS.messageState)),
    error: (fields.get('err') || networkError(tlvs)).slice(0, MAX_ERROR_LETTERS),
    destination,
    ...(doneAt !== undefined && { doneAt }),
    ...(reference !== undefined && { reference }),
    raw: text.slice(0, MAX_RAW_LETTERS),
  };
}

/** Says by its text alone that it is a receipt. */
export function looksLikeReceipt(dataCoding: number, octets: Buffer): boolean {
  const fields = readFields(receiptText(dataCoding, octets));
  return fields.has('id') && fields.has('stat');
}

/** A receipt's text is ASCII, also where it calls itself UCS-2, which would have a zero in each of these letters. */
function receiptText(dataCoding: number, octets: Buffer): string {
  return (octets.includes(0) ? decodeText(dataCoding, octets) : undefined) ?? octets.toString('latin1');
}

const FIELD = /(?:^|[\s,;])(id|sub|dlvrd|submit[ _]?date|done[ _]?date|stat|err|text):(\S*(?: \d\d:\d\d(?::\d\d)?)?)/gi;

/** What stands first counts; after `text` stand words of the message, which are not the carrier's. */
function readFields(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [, name = '', value = ''] of text.matchAll(FIELD)) {
    const plain = name.toLowerCase().replace(/[ _]/, '');
    if (plain === 'text') break;
    if (!fields.has(plain)) fields.set(plain, value);
  }
  return fields;
}

/** By SMPP 3.4 appendix B, and what carriers write beside it. */
const BY_WORD: Readonly<Record<string, ReceiptState>> = {
  ENROUTE: 'enroute',
  BUFFERED: 'enroute',
  SCHEDULED: 'enroute',
  ACCEPTD: 'accepted',
  ACCEPTED: 'accepted',
  DELIVRD: 'delivered',
  DELIVERED: 'delivered',
  UNDELIV: 'undelivered',
  UNDELIVERABLE: 'undelivered',
  UNDELIVERED: 'undelivered',
  FAILED: 'undelivered',
  SKIPPED: 'undelivered',
  EXPIRED: 'expired',
  DELETED: 'deleted',
  REJECTD: 'rejected',
  REJECTED: 'rejected',
};

/** message_state, SMPP 3.4 §5.2.28, and the two of 5.0. */
const BY_NUMBER: readonly ReceiptState[] = [
  'enroute',
  'enroute',
  'delivered',
  'expired',
  'deleted',
  'undelivered',
  'accepted',
  'unknown',
  'rejected',
  'undelivered',
];

/** Where both say something, the text is what people at the carrier look at. */
function stateOf(word: string | undefined, number: number | undefined): ReceiptState {
  return BY_WORD[word?.toUpperCase() ?? ''] ?? BY_NUMBER[number ?? -1] ?? 'unknown';
}

/** One octet of network, two of its code. */
function networkError(tlvs: readonly Tlv[]): string {
  const value = tlvOf(tlvs, TAGS.networkErrorCode);
  return value?.length === 3 ? String(value.readUInt16BE(1)) : '';
}
