/** Reads a deliver or a report of the gateway. Pure. docs/decisions/0757 */
import type { ReceiptState, UnreadReason } from '../carrier.ts';
import { idOf, readReply, receiptOf } from '../gateways/delivery.ts';
import type { GatewayFields } from '../gateways/settings.ts';
import { stateOfWord } from '../smpp/status-word.ts';
import type { Delivery } from '../wire/dialect.ts';
import { SEQUENCE_OCTETS, type SgipPacketOf } from './layouts.ts';
import { referenceOf } from './sequence.ts';

type DeliverySettings = Pick<GatewayFields, 'statusWords' | 'receiptNumber'>;

export function readSgipDelivery(
  packet: SgipPacketOf<'deliver'> | SgipPacketOf<'report'>,
  frame: Buffer,
  settings: DeliverySettings,
): Delivery {
  const isCut = packet.missing !== undefined && packet.missing !== 'reserve';
  if (packet.command === 'report')
    return isCut ? unread(frame, 'SGIP_REPORT', 'cut') : readSgipReport(packet, frame, settings);
  if (isCut) return unread(frame, 'SGIP_DELIVER', 'cut');
  const {
    userNumber: from,
    spNumber: to,
    messageCoding: coding,
    tpUdhi: udhi,
    messageContent: content,
  } = packet.fields;
  return { kind: 'reply', message: readReply({ from, to, coding, udhi, content }) };
}

const WAITING = 1;
const FAILED = 2;
const STATES: readonly ReceiptState[] = ['delivered', 'enroute', 'undelivered'];

function readSgipReport({ fields }: SgipPacketOf<'report'>, frame: Buffer, settings: DeliverySettings): Delivery {
  const { submitSequence, userNumber: number, state: ending, errorCode } = fields;
  const id = idOf(submitSequence, SEQUENCE_OCTETS);
  if (id === '') return unread(frame, 'SGIP_REPORT', 'empty');
  // The protocol has numbers, not words.
  const word = ending === WAITING ? 'sgip:waiting' : `sgip:${errorCode}`;
  const own = ending === FAILED ? stateOfWord(word, word, settings.statusWords) : undefined;
  const state = own ?? STATES[ending] ?? 'unknown';
  const raw = `SubmitSequenceNumber:${id} UserNumber:${number.replace(/[^ -~]/g, '')} State:${ending} ErrorCode:${errorCode}`;
  return {
    kind: 'receipt',
    receipt: receiptOf({ id, state, word, number, reference: referenceOf(id), raw }, settings),
  };
}

function unread(octets: Buffer, command: string, reason: UnreadReason): Delivery {
  return { kind: 'unread', unread: { reason, command, octets } };
}
