/**
 * Parses a deliver_sm or data_sm of a carrier into a receipt, a reply, or a message that cannot be parsed. Pure.
 * docs/decisions/0421
 */
import type { SmppSettings } from '#model/sms-connector.ts';
import type { UnreadReason } from '../carrier.ts';
import { carrierNumber } from '../msisdn.ts';
import { readUserData } from '../text/concatenation.ts';
import type { Delivery } from '../wire/dialect.ts';
import { readContent } from './data-coding.ts';
import type { PduOf, Tlv } from './layouts.ts';
import { looksLikeReceipt, readReceipt, saysNothing } from './receipt.ts';
import { readSarTlvs } from './sar.ts';
import { TAGS, tlvOf } from './tlvs.ts';

export interface Deliver {
  readonly pdu: PduOf<'deliverSm'> | PduOf<'dataSm'>;
  /** The whole PDU as received. */
  readonly frame: Buffer;
  /** Name of the mandatory field before which the PDU ends. */
  readonly missing?: string;
}

/** Bits 2 to 5 of esm_class, the type of the message. SMPP 3.4 §5.2.12 */
const TYPE_MASK = 0x3c;
const TYPE_PLAIN = 0x00;
const RECEIPT = 0x04;
const INTERMEDIATE = 0x20;
/** Mask of the types that phones send: acknowledgements, 0x08 and 0x10, and an aborted conversation, 0x18. */
const BY_PHONE = 0x18;
const HAS_HEADER = 0x40;

export function readDelivery(deliver: Deliver, settings: SmppSettings): Delivery {
  const { fields, tlvs } = deliver.pdu;
  if (deliver.missing !== undefined) return unread(deliver, 'cut');
  const { esmClass, dataCoding, sourceAddr, destinationAddr } = fields;
  // With this parameter sm_length is 0, SMPP 3.4 §5.3.2.32. A data_sm has no other field for the text.
  const octets = tlvOf(tlvs, TAGS.messagePayload) ?? ('shortMessage' in fields ? fields.shortMessage : Buffer.alloc(0));
  const type = esmClass & TYPE_MASK;
  const isMarked = (type & (RECEIPT | INTERMEDIATE)) !== 0 && (type & BY_PHONE) === 0;
  const number = carrierNumber(sourceAddr);
  if (isMarked || (type === TYPE_PLAIN && isUnmarkedReceipt(dataCoding, octets, tlvs, settings))) {
    const source = {
      ...{ dataCoding, octets, tlvs, destination: number ?? sourceAddr },
      ...(number !== undefined && settings.receiptNumber === 'check' && { number }),
      isIntermediate: (type & INTERMEDIATE) !== 0,
    };
    const receipt = readReceipt(source, settings);
    return saysNothing(receipt) ? unread(deliver, 'empty') : { kind: 'receipt', receipt };
  }
  // An acknowledgement with text from a phone counts as a reply.
  if (type !== TYPE_PLAIN && octets.length === 0) return unread(deliver, 'empty');
  const userData = (esmClass & HAS_HEADER) === 0 ? { octets } : readUserData(octets);
  const concatenation = userData.concatenation ?? readSarTlvs(tlvs);
  const message = {
    ...{ origin: number ?? sourceAddr, destination: destinationAddr },
    ...{ ...readContent(dataCoding, userData.octets), coding: dataCoding, octets: userData.octets },
    ...(concatenation !== undefined && { concatenation }),
  };
  return { kind: 'reply', message };
}

function unread({ pdu, frame }: Deliver, reason: UnreadReason): Delivery {
  const command = pdu.command === 'deliverSm' ? 'deliver_sm' : 'data_sm';
  return { kind: 'unread', unread: { reason, command, octets: frame } };
}

/**
 * Recognises a receipt that esm_class does not mark. Phones cannot write optional parameters, but an id alone may be
 * that of the message that a phone replies to.
 */
function isUnmarkedReceipt(dataCoding: number, octets: Buffer, tlvs: readonly Tlv[], settings: SmppSettings): boolean {
  const hasId = tlvOf(tlvs, TAGS.receiptedMessageId) !== undefined;
  if (hasId && tlvOf(tlvs, TAGS.messageState) !== undefined) return true;
  return (hasId || settings.unmarkedReceipts) && looksLikeReceipt(dataCoding, octets);
}
