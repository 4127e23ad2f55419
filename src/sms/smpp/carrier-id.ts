/**
 * Message ids in comparable forms: the response to a submit and the receipt often write one id in two ways.
 * docs/decisions/0206
 */
import type { ReceiptIds } from '#model/sms-connector.ts';

/**
 * Returns the keys of a response's id. Receipts are compared with the first; one that arrived before the response may
 * be stored under any of them.
 */
export function answerKeys(id: string, ids: ReceiptIds): readonly string[] {
  const own = plainForm(id);
  return unique(ids === 'same' ? [own] : [own, decimalToHex(own), hexToDecimal(own)]);
}

/**
 * Returns the keys of a receipt's ids, the likeliest first; with `auto` all are alike. `tlvId` is usually written as in
 * the response, whatever the form in the text.
 */
export function receiptKeys(textId: string, tlvId: string, ids: ReceiptIds): readonly string[] {
  const own = plainForm(tlvId);
  return unique([own, ...textKeys(plainForm(textId), ids), ...(ids === 'auto' ? textKeys(own, ids) : [])]);
}

function textKeys(own: string, ids: ReceiptIds): readonly (string | undefined)[] {
  switch (ids) {
    case 'same':
      return [own];
    case 'decimal':
      return [decimalToHex(own), own];
    case 'hex':
      return [hexToDecimal(own), own];
    case 'auto':
      return [own, decimalToHex(own), hexToDecimal(own)];
  }
}

/** Ignores case and leading zeros: some carriers pad ids only in receipts, others capitalize them there. */
function plainForm(id: string): string {
  return id
    .trim()
    .toLowerCase()
    .replace(/^0+(?=.)/, '');
}

/** Converts an id of at most 64 octets. Numbers are exact up to 2^53 and take a third of the time of bigints. */
function decimalToHex(id: string): string | undefined {
  if (!/^\d{1,64}$/.test(id)) return undefined;
  return (id.length <= 15 ? Number(id) : BigInt(id)).toString(16);
}

function hexToDecimal(id: string): string | undefined {
  if (!/^[\da-f]{1,64}$/.test(id)) return undefined;
  return (id.length <= 13 ? Number.parseInt(id, 16) : BigInt(`0x${id}`)).toString();
}

function unique(ids: readonly (string | undefined)[]): readonly string[] {
  const kept: string[] = [];
  for (const id of ids) if (id !== undefined && id !== '' && !kept.includes(id)) kept.push(id);
  return kept;
}
