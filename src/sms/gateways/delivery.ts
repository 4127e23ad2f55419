/** What CMPP, SMGP and SGIP say of receipts and replies in the same way. Pure. docs/decisions/0757 */
import type { MobileOriginated, Receipt, ReceiptState } from '../carrier.ts';
import { carrierNumber } from '../msisdn.ts';
import { readReceiptDate } from '../smpp/receipt-date.ts';
import { stateOfWord } from '../smpp/status-word.ts';
import { readPhoneContent } from '../text/read-content.ts';
import type { GatewayFields } from './settings.ts';

export interface GatewayReply {
  /** The phone's number and ours, as received. */
  readonly from: string;
  readonly to: string;
  readonly coding: number;
  /** Value of TP_udhi. */
  readonly udhi: number;
  readonly content: Buffer;
}

export function readReply({ from, to, coding, udhi, content }: GatewayReply): MobileOriginated {
  return { origin: carrierNumber(from) ?? from, destination: to, coding, ...readPhoneContent(coding, udhi, content) };
}

export interface GatewayReport {
  /** Id of the message in hexadecimal; empty: the report has none. */
  readonly id: string;
  readonly state: ReceiptState;
  readonly word: string;
  /** The phone's number as received. */
  readonly number: string;
  /** `YYMMDDhhmm` in Beijing time. */
  readonly submitted?: string;
  readonly done?: string;
  readonly reference?: Receipt['reference'];
  readonly raw: string;
}

export function receiptOf(report: GatewayReport, settings: Pick<GatewayFields, 'receiptNumber'>): Receipt {
  const { id, state, word, reference, raw } = report;
  const number = carrierNumber(report.number);
  const submittedAt = readReceiptDate(report.submitted ?? '', BEIJING_MINUTES);
  const doneAt = readReceiptDate(report.done ?? '', BEIJING_MINUTES);
  return {
    carrierId: id,
    keys: id === '' ? [] : [id],
    state,
    // An id without a word has no outcome yet.
    isFinal: word !== '' && state !== 'enroute' && state !== 'accepted',
    word,
    destination: number ?? report.number,
    ...(number !== undefined && settings.receiptNumber === 'check' && { number }),
    ...(submittedAt !== undefined && { submittedAt }),
    ...(doneAt !== undefined && { doneAt }),
    ...(reference !== undefined && { reference }),
    raw,
  };
}

const BEIJING_MINUTES = 480;

/**
 * Returns the state of a report's word: by the documents of CMPP and SMGP every word that is not named there means that
 * the message failed. `word`: `stat`, perhaps with an error code behind it.
 */
export function stateOfReport(
  stat: string,
  word: string,
  { statusWords }: Pick<GatewayFields, 'statusWords'>,
): ReceiptState {
  const state = stateOfWord(stat, word, statusWords);
  return state ?? (stat === '' || stat.toUpperCase() === 'UNKNOWN' ? 'unknown' : 'undelivered');
}

/** An id as the key of its message; empty if it is cut or all zeros. `octets`: those of a whole one. */
export function idOf(digits: string, octets: number): string {
  return digits.length === 2 * octets && /[^0]/.test(digits) ? digits : '';
}

/** Returns at most 40 printable characters. */
export function printable(word: string): string {
  return word.replace(/[^ -~]/g, '').slice(0, MAX_WORD_LETTERS);
}

const MAX_WORD_LETTERS = 40;
