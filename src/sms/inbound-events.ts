/**
 * Inbound events of carriers in the form in which they are stored: receipts with the state that they mean, replies with
 * whether they opt out. Pure.
 */
import type { StoredReceipt, ReceiptOutcome as StoredState } from '#db/tables/sms/receipts.ts';
import type { ReceivedReply } from '#db/tables/sms/replies.ts';
import type { ReceivedUnread } from '#db/tables/sms/unread.ts';
import type { MobileOriginated, Receipt, ReceiptState, Unread } from './carrier.ts';
import { possibleTexts } from './text/alphabets.ts';
import { isOptOut } from './text/opt-out.ts';

export type InboundEvent =
  | { readonly kind: 'receipt'; readonly receipt: StoredReceipt }
  | { readonly kind: 'reply'; readonly reply: ReceivedReply }
  | { readonly kind: 'unread'; readonly unread: ReceivedUnread };

/** Characters that are kept of a receipt's text. */
const MAX_RAW = 1000;
/** Characters that are kept of a reply, more than the longest message has. */
const MAX_TEXT = 20_000;
/** Octets that are kept of an unreadable PDU, which has a few hundred, or up to 70,000 if it is mostly a parameter. */
const MAX_UNREAD_OCTETS = 4_096;
/** Longest content in which an opt-out word is looked for, long enough for each in every alphabet, with padding. */
const MAX_WORD_OCTETS = 64;

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

export function receiptToStore(connectorId: number, receipt: Receipt): InboundEvent {
  const { carrierId: _, keys, state, isFinal, ...rest } = receipt;
  const { destination, word, raw } = rest;
  const stored = isFinal ? STATES[state] : 'onTheWay';
  return {
    kind: 'receipt',
    receipt: {
      ...rest,
      connectorId,
      carrierKeys: keys.map(printable),
      destination: printable(destination),
      state: stored,
      error: stored === 'delivered' ? '' : word || state,
      raw: raw.slice(0, MAX_RAW),
    },
  };
}

export function replyToStore(connectorId: number, message: MobileOriginated): InboundEvent {
  const { origin, text, isText, coding, octets, concatenation } = message;
  const others = octets.length <= MAX_WORD_OCTETS ? possibleTexts(octets) : [];
  return {
    kind: 'reply',
    reply: {
      connectorId,
      origin: printable(origin),
      text: text.slice(0, MAX_TEXT),
      isOptOut: isOptOut([text, ...others]),
      ...(!isText && { coding }),
      ...(concatenation !== undefined && { piece: concatenation }),
    },
  };
}

export function unreadToStore(connectorId: number, { reason, command, octets }: Unread): InboundEvent {
  const kept = octets.toString('hex', 0, Math.min(octets.length, MAX_UNREAD_OCTETS));
  return { kind: 'unread', unread: { connectorId, reason, command, octets: kept } };
}

/** Removes what PostgreSQL refuses in a parameter: NULs and unpaired surrogates. */
function printable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}
