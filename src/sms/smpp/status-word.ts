/** The words of receipts, which say what became of a message → its state. Pure. docs/decisions/0422 */
import { findStatusWord, type StatusWord, type WordState } from '#model/sms-status-words.ts';
import type { ReceiptState } from '../carrier.ts';

/**
 * `undefined`: nobody knows it. The connector's own words come first: a whole word before one that ends with `*`, a longer one
 * before a shorter one. `word` may have an error code behind it, as in `UNDELIV/027`; `stat` is without it.
 */
export function stateOfWord(stat: string, word: string, own: readonly StatusWord[]): ReceiptState | undefined {
  const plain = stat.toUpperCase();
  const found = findStatusWord([word, stat], own);
  if (found !== undefined) return OWN_STATES[found.state];
  return BY_WORD[plain] ?? (CODE.test(plain) ? 'undelivered' : undefined);
}

const OWN_STATES: Readonly<Record<WordState, ReceiptState>> = {
  delivered: 'delivered',
  failed: 'undelivered',
  expired: 'expired',
  unknown: 'unknown',
  onTheWay: 'enroute',
};

/** What carriers in China write for an end that is none of the words below: MA:0001, MK:0012, DB_0141, MI00020. */
const CODE = /^[A-Z]{1,7}[:_]?\d{1,5}$/;

/** States of words in SMPP 3.4 appendix B, and of others that carriers write. */
const BY_WORD: Readonly<Record<string, ReceiptState>> = {
  ENROUTE: 'enroute',
  BUFFERED: 'enroute',
  SCHEDULED: 'enroute',
  RETRY: 'enroute',
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
