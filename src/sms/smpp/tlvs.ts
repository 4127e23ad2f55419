/** The optional parameters of SMPP 3.4 by name, and how their values are read. Unknown ones are kept as received. */
import type { Tlv } from './layouts.ts';

export const TAGS = {
  destAddrSubunit: 0x0005,
  destNetworkType: 0x0006,
  destBearerType: 0x0007,
  destTelematicsId: 0x0008,
  sourceAddrSubunit: 0x000d,
  sourceNetworkType: 0x000e,
  sourceBearerType: 0x000f,
  sourceTelematicsId: 0x0010,
  qosTimeToLive: 0x0017,
  payloadType: 0x0019,
  additionalStatusInfoText: 0x001d,
  receiptedMessageId: 0x001e,
  msMsgWaitFacilities: 0x0030,
  privacyIndicator: 0x0201,
  sourceSubaddress: 0x0202,
  destSubaddress: 0x0203,
  userMessageReference: 0x0204,
  userResponseCode: 0x0205,
  sourcePort: 0x020a,
  destinationPort: 0x020b,
  sarMsgRefNum: 0x020c,
  languageIndicator: 0x020d,
  sarTotalSegments: 0x020e,
  sarSegmentSeqnum: 0x020f,
  scInterfaceVersion: 0x0210,
  callbackNumPresInd: 0x0302,
  callbackNumAtag: 0x0303,
  numberOfMessages: 0x0304,
  callbackNum: 0x0381,
  dpfResult: 0x0420,
  setDpf: 0x0421,
  msAvailabilityStatus: 0x0422,
  networkErrorCode: 0x0423,
  messagePayload: 0x0424,
  deliveryFailureReason: 0x0425,
  moreMessagesToSend: 0x0426,
  messageState: 0x0427,
  ussdServiceOp: 0x0501,
  displayTime: 0x1201,
  smsSignal: 0x1203,
  msValidity: 0x1204,
  alertOnMessageDelivery: 0x130c,
  itsReplyType: 0x1380,
  itsSessionInfo: 0x1383,
} as const;

export function tlvOf(tlvs: readonly Tlv[], tag: number): Buffer | undefined {
  return tlvs.find((tlv) => tlv.tag === tag)?.value;
}

/** Returns a number of one or two octets; `undefined` for other lengths. */
export function numberTlv(tlvs: readonly Tlv[], tag: number): number | undefined {
  const value = tlvOf(tlvs, tag);
  return value?.length === 1 || value?.length === 2 ? value.readUIntBE(0, value.length) : undefined;
}

/** Returns the text up to its NUL, which some carriers omit. */
export function textTlv(tlvs: readonly Tlv[], tag: number): string | undefined {
  return tlvOf(tlvs, tag)?.toString('latin1').replace(/\0.*$/s, '');
}

export function u8Tlv(tag: number, value: number): Tlv {
  return { tag, value: Buffer.of(value) };
}

export function u16Tlv(tag: number, value: number): Tlv {
  return { tag, value: Buffer.of(value >> 8, value & 0xff) };
}
