/**
 * Message ids, in forms that can be compared: the answer to a submit and the receipt often write one number in two ways.
 * docs/decisions/0206
 */
import type { ReceiptIds } from '#model/sms-connector.ts';

/** Keys of an id. Receipts are compared with the first; a receipt that arrived before the response may be stored under any of the others. */
export function answerKeys(id: string, ids: ReceiptIds): readonly string[] {
  const own = plainForm(id);
  return unique(ids === 'same' ? [own] : [own, decimalToHex(own), hexToDecimal(own)]);
}

/** `tlvId` is usually as in the answer, whatever the text writes. The likeliest comes first; with `auto` none is likelier. */
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

/** The longest id has 64 octets. Numbers are exact up to 2^53; they take a third of the time of whole numbers of any size. */
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
