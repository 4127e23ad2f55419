/** What carriers tell, as it is stored: receipts by what they mean for a part, replies by whether they refuse more. Pure. */

import type { StoredReceipt, ReceiptState as StoredState } from '#db/sms-receipts.ts';
import type { ReceivedReply } from '#db/sms-replies.ts';
import type { MobileOriginated, Receipt, ReceiptState } from './carrier.ts';

export type Told =
  | { readonly kind: 'receipt'; readonly receipt: StoredReceipt }
  | { readonly kind: 'reply'; readonly reply: ReceivedReply };

/** Of what is kept for people. */
const MAX_RAW = 1000;
/** More than the longest message has. */
const MAX_TEXT = 20_000;

const STATES: Readonly<Record<ReceiptState, StoredState>> = {
  enroute: 'onTheWay',
  accepted: 'onTheWay',
  delivered: 'delivered',
  undelivered: 'failed',
  deleted: 'failed',
  rejected: 'failed',
  expired: 'expired',
  unknown: 'unknown',
};

export function receiptToStore(connectorId: number, receipt: Receipt): Told {
  const { keys, state, isFinal, word, destination, number, submittedAt, doneAt, reference, raw } = receipt;
  const stored = isFinal ? STATES[state] : 'onTheWay';
  return {
    kind: 'receipt',
    receipt: {
      connectorId,
      carrierKeys: keys.map(printable),
      destination: printable(destination),
      state: stored,
      error: stored === 'delivered' ? '' : word || state,
      word,
      raw: raw.slice(0, MAX_RAW),
      ...(number !== undefined && { number }),
      ...(submittedAt !== undefined && { submittedAt }),
      ...(doneAt !== undefined && { doneAt }),
      ...(reference !== undefined && { reference }),
    },
  };
}

export function replyToStore(connectorId: number, { origin, text, concatenation }: MobileOriginated): Told {
  return {
    kind: 'reply',
    reply: {
      connectorId,
      origin: printable(origin),
      text: text.slice(0, MAX_TEXT),
      isOptOut: isOptOut(text),
      ...(concatenation !== undefined && { piece: concatenation }),
    },
  };
}

/** PostgreSQL takes neither NUL nor half a surrogate pair in what is looked for. */
function printable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}

/** What people are told to reply; the whole text, since «Thank you» is none. */
const OPT_OUT_WORDS: readonly string[] = ['R', 'T', 'TD', '退订', 'STOP'];

export function isOptOut(text: string): boolean {
  const word = text.trim().replace(/[.。!！]+$/, '');
  return OPT_OUT_WORDS.includes(word.normalize('NFKC').toUpperCase());
}
