/** The words of receipts, which say what became of a message → its state. Pure. docs/decisions/0422 */
import type { StatusWord, WordState } from '#model/sms-connector.ts';
import type { ReceiptState } from '../carrier.ts';

/**
 * `undefined`: nobody knows it. The connector's own words come first: a whole word before one that ends with `*`, a longer one
 * before a shorter one. `word` may have an error code behind it, as in `UNDELIV/027`; `stat` is without it.
 */
export function stateOfWord(stat: string, word: string, own: readonly StatusWord[]): ReceiptState | undefined {
  const plain = stat.toUpperCase();
  const found = findOwn([word.toUpperCase(), plain], own);
  if (found !== undefined) return OWN_STATES[found];
  return BY_WORD[plain] ?? (CODE.test(plain) ? 'undelivered' : undefined);
}

function findOwn(words: readonly string[], own: readonly StatusWord[]): WordState | undefined {
  const fits = own.filter((entry) => {
    const known = entry.word.toUpperCase();
    const isBeginning = known.endsWith('*');
    return words.some((word) => (isBeginning ? word.startsWith(known.slice(0, -1)) : word === known));
  });
  return fits.toSorted((a, b) => weightOf(b) - weightOf(a))[0]?.state;
}

/** More than any beginning has. */
const WHOLE = 1_000;

function weightOf({ word }: StatusWord): number {
  return word.endsWith('*') ? word.length : WHOLE + word.length;
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

/** By SMPP 3.4 appendix B, and what carriers write beside it. */
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
