/** The PDUs of CMPP 2.0 and 3.0 that a customer of a gateway sends and gets, in the order of the wire. */
import {
  content,
  FixedCodec,
  fixedText,
  hex,
  list,
  none,
  type OutgoingPacket,
  type Packet,
  type PacketOf,
  u8,
  u32,
} from '../wire/fixed-codec.ts';

export type CmppVersion = '2.0' | '3.0';

export const CMPP_HEADER_OCTETS = 12;
export const CMPP_ID_OCTETS = 8;
/** Octets of a phone number. */
export const NUMBER_OCTETS = { '2.0': 21, '3.0': 32 } as const;

/** The commands of a version. */
export function cmppTable(version: CmppVersion) {
  const isThree = version === '3.0';
  const number = fixedText(NUMBER_OCTETS[version]);
  /** 0: a phone number, 1: a pseudonym of one. */
  const numberType = isThree ? u8 : none;
  const status = isThree ? u32 : u8;
  const msgId = hex(CMPP_ID_OCTETS);
  /** 8 reserved octets in 2.0. */
  const linkId = fixedText(isThree ? 20 : 8);
  const answer = { msgId, result: status };
  return {
    connect: {
      id: 0x00000001,
      fields: { sourceAddr: fixedText(6), authenticatorSource: hex(16), version: u8, timestamp: u32 },
    },
    connectResp: { id: 0x80000001, fields: { status, authenticatorIsmg: hex(16), version: u8 } },
    terminate: { id: 0x00000002, fields: {} },
    terminateResp: { id: 0x80000002, fields: {} },
    submit: {
      id: 0x00000004,
      fields: {
        ...{ msgId, pkTotal: u8, pkNumber: u8, registeredDelivery: u8, msgLevel: u8, serviceId: fixedText(10) },
        ...{ feeUserType: u8, feeTerminalId: number, feeTerminalType: numberType },
        ...{ tpPid: u8, tpUdhi: u8, msgFmt: u8, msgSrc: fixedText(6), feeType: fixedText(2), feeCode: fixedText(6) },
        ...{ validTime: fixedText(17), atTime: fixedText(17), srcId: fixedText(21) },
        ...{ destTerminalId: list(NUMBER_OCTETS[version]), destTerminalType: numberType },
        ...{ msgContent: content('u8'), linkId },
      },
    },
    submitResp: { id: 0x80000004, fields: answer },
    deliver: {
      id: 0x00000005,
      fields: {
        ...{ msgId, destId: fixedText(21), serviceId: fixedText(10), tpPid: u8, tpUdhi: u8, msgFmt: u8 },
        ...{ srcTerminalId: number, srcTerminalType: numberType, registeredDelivery: u8 },
        ...{ msgContent: content('u8'), linkId },
      },
    },
    deliverResp: { id: 0x80000005, fields: answer },
    activeTest: { id: 0x00000008, fields: {} },
    activeTestResp: { id: 0x80000008, fields: { reserved: u8 } },
  } as const;
}

export type CmppTable = ReturnType<typeof cmppTable>;
export type CmppPacket = Packet<CmppTable, typeof u32>;
export type CmppPacketOf<C extends keyof CmppTable> = PacketOf<CmppTable, typeof u32, C>;

const CODECS = { '2.0': new FixedCodec(cmppTable('2.0'), u32), '3.0': new FixedCodec(cmppTable('3.0'), u32) };

export function encodeCmpp<C extends keyof CmppTable>(
  version: CmppVersion,
  packet: OutgoingPacket<CmppTable, typeof u32, C>,
): Buffer {
  return CODECS[version].encode(packet);
}

/**
 * Some gateways answer in the layout of the other version; its length shows that. An answer has no other field of
 * variable length.
 */
export function decodeCmpp(version: CmppVersion, frame: Buffer): CmppPacket {
  const own = CODECS[version].decode(frame);
  if (fits(own) || !isAnswer(own)) return own;
  const other = CODECS[version === '2.0' ? '3.0' : '2.0'].decode(frame);
  return fits(other) ? other : own;
}

function fits(packet: CmppPacket): boolean {
  return packet.command !== 'unknown' && packet.missing === undefined && packet.rest.length === 0;
}

function isAnswer({ command }: CmppPacket): boolean {
  return command === 'connectResp' || command === 'submitResp' || command === 'deliverResp';
}
