/** Parses delivery receipts in all their dialects. Pure. docs/decisions/0206 */
import type { SmppSettings } from '#model/sms-connector.ts';
import type { PartReference, Receipt, ReceiptState } from '../carrier.ts';
import { withoutFinalZeros } from '../text/alphabets.ts';
import { receiptKeys } from './carrier-id.ts';
import { readContent } from './data-coding.ts';
import type { Tlv } from './layouts.ts';
import { readReceiptDate } from './receipt-date.ts';
import { stateOfWord } from './status-word.ts';
import { numberTlv, TAGS, textTlv, tlvOf } from './tlvs.ts';

export type ReceiptDialect = Pick<SmppSettings, 'receiptIds' | 'receiptZoneMinutes' | 'statusWords'>;

export interface ReceiptSource {
  readonly dataCoding: number;
  readonly octets: Buffer;
  readonly tlvs: readonly Tlv[];
  /** Destination of the message in E.164, or as the carrier wrote it if it is not a phone number. */
  readonly destination: string;
  /** The same number in E.164; absent if it is not one, or is not to be compared. */
  readonly number?: string;
  /** Whether another receipt follows, by the esm_class. */
  readonly isIntermediate: boolean;
}

/** Characters that are kept of the carrier's texts. */
const MAX_RAW_LETTERS = 1_000;
const MAX_WORD_LETTERS = 40;
const MAX_ID_LETTERS = 255;

export function readReceipt(
  { dataCoding, octets, tlvs, destination, number, isIntermediate }: ReceiptSource,
  dialect: ReceiptDialect,
): Receipt {
  const text = receiptText(dataCoding, octets);
  const fields = readFields(text);
  const tlvId = textTlv(tlvs, TAGS.receiptedMessageId)?.slice(0, MAX_ID_LETTERS) ?? '';
  const textId = fields.get('id')?.slice(0, MAX_ID_LETTERS) ?? '';
  const submittedAt = readReceiptDate(fields.get('submitdate') ?? '', dialect.receiptZoneMinutes);
  const doneAt = readReceiptDate(fields.get('donedate') ?? '', dialect.receiptZoneMinutes);
  const reference = referenceOf(tlvs);
  const keys = receiptKeys(textId, tlvId, dialect.receiptIds);
  const word = wordOf(fields, tlvs);
  // The text takes precedence over the parameter, because the carrier's staff goes by the text.
  const byText = stateOfWord(printable(fields.get('stat')), word, dialect.statusWords);
  const state = byText ?? BY_NUMBER[numberTlv(tlvs, TAGS.messageState) ?? -1] ?? 'unknown';
  return {
    carrierId: textId || tlvId,
    keys,
    ...(dialect.receiptIds === 'auto' && { equalKeys: keys.length }),
    state,
    // A receipt with an id but no word has no outcome yet.
    isFinal: !isIntermediate && word !== '' && state !== 'enroute' && state !== 'accepted',
    word,
    destination,
    ...(number !== undefined && { number }),
    ...(submittedAt !== undefined && { submittedAt }),
    ...(doneAt !== undefined && { doneAt }),
    ...(reference !== undefined && { reference }),
    raw: text.slice(0, MAX_RAW_LETTERS),
  };
}

/** Whether a receipt has neither an id nor an outcome. */
export function saysNothing({ keys, word }: Receipt): boolean {
  return keys.length === 0 && word === '';
}

/** Whether the text alone shows that it is a receipt. */
export function looksLikeReceipt(dataCoding: number, octets: Buffer): boolean {
  const fields = readFields(receiptText(dataCoding, octets));
  return fields.has('id') && fields.has('stat');
}

/** Decodes a receipt's text, which is ASCII even if data_coding says UCS-2, unless it has the zero octets of UCS-2. */
function receiptText(dataCoding: number, octets: Buffer): string {
  const plain = withoutFinalZeros(octets);
  return plain.includes(0) ? readContent(dataCoding, plain).text : plain.toString('latin1');
}

/** A value ends at a blank, a comma or a semicolon, except that a date may be followed by a blank and a time of day. */
const FIELD =
  /(?:^|[\s,;])(id|sub|dlvrd|submit[ _]?date|done[ _]?date|stat|err|text):([^\s,;]*(?: \d\d:\d\d(?::\d\d)?)?)/gi;

/** Reads the fields of a receipt; the first of a name counts. Everything after `text` is from the message itself. */
function readFields(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [, name = '', value = ''] of text.matchAll(FIELD)) {
    const plain = name.toLowerCase().replace(/[ _]/, '');
    if (plain === 'text') break;
    if (!fields.has(plain)) fields.set(plain, value);
  }
  return fields;
}

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

/** Returns the word of the state as the carrier wrote it, then the error code unless that is zero or the same word. */
function wordOf(fields: ReadonlyMap<string, string>, tlvs: readonly Tlv[]): string {
  const word = printable(fields.get('stat')) || (NAMES[numberTlv(tlvs, TAGS.messageState) ?? -1] ?? '');
  const error = printable(fields.get('err')) || networkError(tlvs);
  const isError = /[^0]/.test(error) && error !== word;
  const both = isError && word !== '' ? `${word}/${error}` : isError ? error : word;
  return both.slice(0, MAX_WORD_LETTERS);
}

function printable(text = ''): string {
  return text.replace(/[^ -~]/g, '');
}

/** message_state in the words of a receipt's text, SMPP 3.4 appendix B, and the two of 5.0. */
const NAMES: readonly string[] = [
  'SCHEDULED',
  'ENROUTE',
  'DELIVRD',
  'EXPIRED',
  'DELETED',
  'UNDELIV',
  'ACCEPTD',
  'UNKNOWN',
  'REJECTD',
  'SKIPPED',
];

/** Reads our reference: two octets by the standard, of which some carriers return only the lower one. */
function referenceOf(tlvs: readonly Tlv[]): PartReference | undefined {
  const value = numberTlv(tlvs, TAGS.userMessageReference);
  const bits = 8 * (tlvOf(tlvs, TAGS.userMessageReference)?.length ?? 0);
  return value === undefined ? undefined : { value, bits };
}

/** Returns the error code, which follows one octet for the type of network. SMPP 3.4 §5.3.2.31 */
function networkError(tlvs: readonly Tlv[]): string {
  const value = tlvOf(tlvs, TAGS.networkErrorCode);
  return value?.length === 3 ? String(value.readUInt16BE(1)) : '';
}
