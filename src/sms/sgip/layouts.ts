/** The PDUs of SGIP 1.2 that a customer of a gateway and the gateway exchange, in the order of the wire. */
import { content, FixedCodec, fixedText, hex, list, type Packet, type PacketOf, u8 } from '../wire/fixed-codec.ts';

export const SGIP_HEADER_OCTETS = 20;
/** Node, `MMDDhhmmss` and a counter, four octets each. */
export const SEQUENCE_OCTETS = 12;

const sequence = hex(SEQUENCE_OCTETS);
const number = fixedText(21);
const reserve = fixedText(8);
const answer = { result: u8, reserve } as const;

const TABLE = {
  bind: { id: 0x00000001, fields: { loginType: u8, loginName: fixedText(16), loginPassword: fixedText(16), reserve } },
  bindResp: { id: 0x80000001, fields: answer },
  unbind: { id: 0x00000002, fields: {} },
  unbindResp: { id: 0x80000002, fields: {} },
  submit: {
    id: 0x00000003,
    fields: {
      ...{
        spNumber: number,
        chargeNumber: number,
        userNumber: list(21),
        corpId: fixedText(5),
        serviceType: fixedText(10),
      },
      ...{
        feeType: u8,
        feeValue: fixedText(6),
        givenValue: fixedText(6),
        agentFlag: u8,
        moRelateToMtFlag: u8,
        priority: u8,
      },
      ...{ expireTime: fixedText(16), scheduleTime: fixedText(16), reportFlag: u8, tpPid: u8, tpUdhi: u8 },
      ...{ messageCoding: u8, messageType: u8, messageContent: content('u32'), reserve },
    },
  },
  submitResp: { id: 0x80000003, fields: answer },
  deliver: {
    id: 0x00000004,
    fields: {
      ...{ userNumber: number, spNumber: number, tpPid: u8, tpUdhi: u8, messageCoding: u8 },
      ...{ messageContent: content('u32'), reserve },
    },
  },
  deliverResp: { id: 0x80000004, fields: answer },
  report: {
    id: 0x00000005,
    fields: { submitSequence: sequence, reportType: u8, userNumber: number, state: u8, errorCode: u8, reserve },
  },
  reportResp: { id: 0x80000005, fields: answer },
  userReport: { id: 0x00000011, fields: { spNumber: number, userNumber: number, userCondition: u8, reserve } },
  userReportResp: { id: 0x80000011, fields: answer },
} as const;

export type SgipTable = typeof TABLE;
export type SgipPacket = Packet<SgipTable, typeof sequence>;
export type SgipPacketOf<C extends keyof SgipTable> = PacketOf<SgipTable, typeof sequence, C>;

export const SGIP = new FixedCodec(TABLE, sequence);
