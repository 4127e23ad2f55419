/** SMPP 3.4 as a dialect: a transceiver session, or a pair of a transmitter and a receiver. */
import type { SmppSettings } from '#model/sms-connector.ts';
import type { SubmitOutcome } from '../carrier.ts';
import type { Delivery, DeliveryVerdict, Dialect, PacketKind, Welcome } from '../wire/dialect.ts';
import type { FrameLimits } from '../wire/frames.ts';
import { countTo } from '../wire/sequence.ts';
import { answerKeys } from './carrier-id.ts';
import { composeSubmit } from './compose.ts';
import { type DecodedPdu, decodePdu, HEADER_OCTETS } from './decode.ts';
import { readDelivery } from './delivery.ts';
import { encodePdu } from './encode.ts';
import { type Command, type Fields, LAYOUTS, type Pdu, RESPONSE_BIT } from './layouts.ts';
import type { BindCommand, SmppRequest } from './request.ts';
import { describeCommandStatus, refusalOf, STATUS } from './statuses.ts';

export type SmppDialect = Dialect<DecodedPdu, SmppRequest>;

/** The dialects of a connector's sessions. */
export function smppDialects(settings: SmppSettings): readonly SmppDialect[] {
  const commands: readonly BindCommand[] =
    settings.bind === 'pair' ? ['bindTransmitter', 'bindReceiver'] : ['bindTransceiver'];
  return commands.map((command) => smppDialect(settings, command));
}

/** `previousSequence`: the sequence number before the first of a session. */
export function smppDialect(settings: SmppSettings, bind: BindCommand, previousSequence = 0): SmppDialect {
  return {
    name: 'SMPP',
    role: bind,
    frames: FRAMES,
    sends: bind !== 'bindReceiver',
    receives: bind !== 'bindTransmitter',
    decode: decodePdu,
    kindOf,
    keyOf: (packet) => (packet.kind === 'pdu' ? packet.pdu.sequence : packet.sequence),
    answers: (packet, command) =>
      packet.kind === 'pdu' && (packet.pdu.command === ANSWERS[command] || packet.pdu.command === 'genericNack'),
    sequences: () => countTo(LAST_SEQUENCE, previousSequence),
    encode: ({ command, fields, tlvs }, key) =>
      // `as`: the fields are those of the command.
      encodePdu({ command, status: STATUS.ok, sequence: Number(key), fields, tlvs } as Pdu),
    login: () => ({ kind: 'request', command: bind, fields: bindFieldsOf(settings), tlvs: [] }),
    welcome,
    alive: ENQUIRE_LINK,
    bye: UNBIND,
    answerTo,
    complaint: encode('genericNack', 0, {}, STATUS.invalidCommandLength),
    compose: (part) => composeSubmit(part, settings),
    outcomeOf: (packet) => outcomeOf(packet, settings),
    readDelivery: (packet, frame) => deliveryOf(packet, frame, settings),
  };
}

/** The longest PDU has an optional parameter of 65,535 octets and room for the rest. */
export const FRAMES: FrameLimits = { headerOctets: HEADER_OCTETS, maxOctets: 70_000 };
/** SMPP 3.4 §3.2 */
const LAST_SEQUENCE = 0x7fffffff;

const ENQUIRE_LINK: SmppRequest = { kind: 'request', command: 'enquireLink', fields: {}, tlvs: [] };
const UNBIND: SmppRequest = { kind: 'request', command: 'unbind', fields: {}, tlvs: [] };

const ANSWERS: Readonly<Record<string, Command>> = {
  bindTransceiver: 'bindTransceiverResp',
  bindTransmitter: 'bindTransmitterResp',
  bindReceiver: 'bindReceiverResp',
  submitSm: 'submitSmResp',
  enquireLink: 'enquireLinkResp',
  unbind: 'unbindResp',
} satisfies Readonly<Record<SmppRequest['command'], Command>>;

function bindFieldsOf({ systemId, password, systemType, interfaceVersion }: SmppSettings): Fields<BindCommand> {
  return { systemId, password, systemType, interfaceVersion, addrTon: 0, addrNpi: 0, addressRange: '' };
}

function kindOf(packet: DecodedPdu): PacketKind {
  if (packet.kind === 'unknown') return 'other';
  switch (packet.pdu.command) {
    case 'enquireLink':
      return 'alive';
    case 'unbind':
      return 'bye';
    case 'deliverSm':
    case 'dataSm':
      return 'delivery';
    default:
      return LAYOUTS[packet.pdu.command].id >= RESPONSE_BIT ? 'answer' : 'other';
  }
}

function welcome(answer: DecodedPdu): Welcome {
  const { status, command } = answer.kind === 'pdu' ? answer.pdu : NACK;
  if (status === STATUS.ok && command !== 'genericNack') return { kind: 'welcome' };
  // The carrier still holds the broken session: each bind may make it hold that longer.
  return { kind: 'refused', reason: describeCommandStatus(status), isLasting: status === STATUS.alreadyBound };
}

const DELIVERY_STATUSES: Readonly<Record<DeliveryVerdict, number>> = {
  done: STATUS.ok,
  again: STATUS.receiverTemporary,
  early: STATUS.invalidBindState,
};

function answerTo(packet: DecodedPdu, verdict: DeliveryVerdict): Buffer | undefined {
  // A response is never answered, or two peers could go on forever.
  if (packet.kind === 'unknown')
    return packet.id < RESPONSE_BIT ? encode('genericNack', packet.sequence, {}, STATUS.invalidCommand) : undefined;
  const { command, sequence } = packet.pdu;
  switch (command) {
    case 'enquireLink':
      return encode('enquireLinkResp', sequence, {});
    case 'unbind':
      return encode('unbindResp', sequence, {});
    case 'deliverSm':
      return encode('deliverSmResp', sequence, { messageId: '' }, DELIVERY_STATUSES[verdict]);
    case 'dataSm':
      return encode('dataSmResp', sequence, { messageId: '' }, DELIVERY_STATUSES[verdict]);
    case 'alertNotification':
    case 'outbind':
      return undefined; // these have no answer
    default:
      return encode('genericNack', sequence, {}, STATUS.invalidCommand);
  }
}

function encode<C extends Command>(
  command: C,
  sequence: number,
  fields: Fields<C>,
  status: number = STATUS.ok,
): Buffer {
  return encodePdu({ command, status, sequence, fields, tlvs: [] });
}

function deliveryOf(packet: DecodedPdu, frame: Buffer, settings: SmppSettings): Delivery | undefined {
  if (packet.kind !== 'pdu') return undefined;
  const { pdu, missing } = packet;
  if (pdu.command !== 'deliverSm' && pdu.command !== 'dataSm') return undefined;
  return readDelivery({ pdu, frame, ...(missing !== undefined && { missing }) }, settings);
}

const NACK = { status: STATUS.invalidCommand, command: 'genericNack' } as const;

function outcomeOf(answer: DecodedPdu, { receiptIds }: SmppSettings): SubmitOutcome {
  const pdu = answer.kind === 'pdu' ? answer.pdu : NACK;
  if (pdu.command !== 'submitSmResp' || pdu.status !== STATUS.ok) return refusalOf(pdu.status);
  const { messageId } = pdu.fields;
  return { kind: 'accepted', carrierId: messageId, keys: answerKeys(messageId, receiptIds) };
}
