/** What a carrier delivers, deliver_sm or data_sm → a receipt, a reply, or nothing that we can read. Pure. */
import type { SmppSettings } from '#model/sms-connector.ts';
import type { MobileOriginated, Receipt } from '../carrier.ts';
import { parseMsisdn } from '../msisdn.ts';
import { readConcatenationTlvs, readUserData } from './concatenation.ts';
import { decodeText } from './data-coding.ts';
import type { PduOf, Tlv } from './layouts.ts';
import { looksLikeReceipt, readReceipt } from './receipt.ts';
import { TAGS, tlvOf } from './tlvs.ts';

export type Delivery =
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  | { readonly kind: 'reply'; readonly message: MobileOriginated }
  /** An acknowledgement between phones, or octets that are no text. */
  | { readonly kind: 'other' };

/** esm_class, SMPP 3.4 §5.2.12: bits 2 to 5 say what it is. */
const TYPE_MASK = 0x3c;
const TYPE_PLAIN = 0x00;
const RECEIPT = 0x04;
const INTERMEDIATE = 0x20;
/** What phones say of a message: 0x08, 0x10, 0x18. */
const NOT_RECEIPT = 0x18;
const HAS_HEADER = 0x40;

export function readDelivery({ fields, tlvs }: PduOf<'deliverSm'> | PduOf<'dataSm'>, settings: SmppSettings): Delivery {
  const { esmClass, dataCoding, sourceAddr, destinationAddr } = fields;
  // sm_length is 0 then, SMPP 3.4 §5.3.2.32; in data_sm there is no other place.
  const octets = tlvOf(tlvs, TAGS.messagePayload) ?? ('shortMessage' in fields ? fields.shortMessage : Buffer.alloc(0));
  const type = esmClass & TYPE_MASK;
  const isMarked = (type & (RECEIPT | INTERMEDIATE)) !== 0 && (type & NOT_RECEIPT) === 0;
  if (isMarked || (type === TYPE_PLAIN && isUnmarkedReceipt(dataCoding, octets, tlvs, settings))) {
    const number = e164Of(sourceAddr);
    const source = {
      ...{ dataCoding, octets, tlvs, destination: number ?? sourceAddr },
      ...(number !== undefined && settings.receiptNumber === 'check' && { number }),
      isIntermediate: (type & INTERMEDIATE) !== 0,
    };
    return { kind: 'receipt', receipt: readReceipt(source, settings) };
  }
  if (type !== TYPE_PLAIN) return { kind: 'other' };
  const userData = (esmClass & HAS_HEADER) === 0 ? { octets } : readUserData(octets);
  const text = decodeText(dataCoding, userData.octets);
  if (text === undefined) return { kind: 'other' };
  const concatenation = userData.concatenation ?? readConcatenationTlvs(tlvs);
  const message = { origin: e164Of(sourceAddr) ?? sourceAddr, destination: destinationAddr, text };
  return { kind: 'reply', message: concatenation === undefined ? message : { ...message, concatenation } };
}

/** Without its mark: no phone can write an optional parameter, and an id alone may be that of a message that is answered. */
function isUnmarkedReceipt(dataCoding: number, octets: Buffer, tlvs: readonly Tlv[], settings: SmppSettings): boolean {
  const hasId = tlvOf(tlvs, TAGS.receiptedMessageId) !== undefined;
  if (hasId && tlvOf(tlvs, TAGS.messageState) !== undefined) return true;
  return (hasId || settings.unmarkedReceipts) && looksLikeReceipt(dataCoding, octets);
}

/** Carriers leave the `+` out, and at home the country's code too. */
function e164Of(address: string): string | undefined {
  const number = parseMsisdn(address, { bareInternational: true });
  return number.kind === 'number' ? number.e164 : undefined;
}
