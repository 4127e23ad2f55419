/** The PDUs of SMGP 3.0 that a customer of a gateway sends and gets, in the order of the wire. */
import { content, FixedCodec, hex, list, type Packet, type PacketOf, text, u8, u32 } from '../wire/fixed-codec.ts';

export const HEADER_OCTETS = 12;
export const MESSAGE_ID_OCTETS = 10;

const msgId = hex(MESSAGE_ID_OCTETS);
const number = text(21);
const reserve = text(8);
const answer = { msgId, status: u32 } as const;

const TABLE = {
  login: {
    id: 0x00000001,
    fields: { clientId: text(8), authenticatorClient: hex(16), loginMode: u8, timestamp: u32, version: u8 },
  },
  loginResp: { id: 0x80000001, fields: { status: u32, authenticatorServer: hex(16), version: u8 } },
  /** Optional parameters follow; see `tlvs.ts`. */
  submit: {
    id: 0x00000002,
    fields: {
      ...{ msgType: u8, needReport: u8, priority: u8, serviceId: text(10), feeType: text(2), feeCode: text(6) },
      ...{ fixedFee: text(6), msgFormat: u8, validTime: text(17), atTime: text(17), srcTermId: number },
      ...{ chargeTermId: number, destTermId: list(21), msgContent: content('u8'), reserve },
    },
  },
  submitResp: { id: 0x80000002, fields: answer },
  /** Optional parameters follow. */
  deliver: {
    id: 0x00000003,
    fields: {
      ...{ msgId, isReport: u8, msgFormat: u8, recvTime: text(14), srcTermId: number, destTermId: number },
      ...{ msgContent: content('u8'), reserve },
    },
  },
  deliverResp: { id: 0x80000003, fields: answer },
  activeTest: { id: 0x00000004, fields: {} },
  activeTestResp: { id: 0x80000004, fields: {} },
  exit: { id: 0x00000006, fields: {} },
  exitResp: { id: 0x80000006, fields: {} },
} as const;

export type SmgpTable = typeof TABLE;
export type SmgpPacket = Packet<SmgpTable, typeof u32>;
export type SmgpPacketOf<C extends keyof SmgpTable> = PacketOf<SmgpTable, typeof u32, C>;

export const SMGP = new FixedCodec(TABLE, u32);
