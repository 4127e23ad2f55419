/** The PDUs of SMGP 3.0 that a customer of a gateway sends and gets, in the order of the wire. */
import { content, FixedCodec, fixedText, hex, list, type Packet, type PacketOf, u8, u32 } from '../wire/fixed-codec.ts';

export const SMGP_HEADER_OCTETS = 12;
export const SMGP_ID_OCTETS = 10;

const msgId = hex(SMGP_ID_OCTETS);
const number = fixedText(21);
const reserve = fixedText(8);
const answer = { msgId, status: u32 } as const;

const TABLE = {
  login: {
    id: 0x00000001,
    fields: { clientId: fixedText(8), authenticatorClient: hex(16), loginMode: u8, timestamp: u32, version: u8 },
  },
  loginResp: { id: 0x80000001, fields: { status: u32, authenticatorServer: hex(16), version: u8 } },
  /** Optional parameters follow; see `tlvs.ts`. */
  submit: {
    id: 0x00000002,
    fields: {
      ...{
        msgType: u8,
        needReport: u8,
        priority: u8,
        serviceId: fixedText(10),
        feeType: fixedText(2),
        feeCode: fixedText(6),
      },
      ...{ fixedFee: fixedText(6), msgFormat: u8, validTime: fixedText(17), atTime: fixedText(17), srcTermId: number },
      ...{ chargeTermId: number, destTermId: list(21), msgContent: content('u8'), reserve },
    },
  },
  submitResp: { id: 0x80000002, fields: answer },
  /** Optional parameters follow. */
  deliver: {
    id: 0x00000003,
    fields: {
      ...{ msgId, isReport: u8, msgFormat: u8, recvTime: fixedText(14), srcTermId: number, destTermId: number },
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
