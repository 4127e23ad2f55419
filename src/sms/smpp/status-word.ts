/** Maps the status words of receipts to states. Pure. docs/decisions/0422 */
import { findStatusWord, type StatusWord, type WordState } from '#model/sms-status-words.ts';
import type { ReceiptState } from '../carrier.ts';

/**
 * Returns `undefined` for an unknown word. The connector's own words take precedence: a whole word over one that ends
 * with `*`, and a longer one over a shorter. `word` may end with an error code, as in `UNDELIV/027`; `stat` has none.
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

/** Codes of failures of carriers in China, such as MA:0001, MK:0012, DB_0141 and MI00020. */
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
