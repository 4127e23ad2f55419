/** How a part identifies its message by optional parameters. SMPP 3.4 §5.3.2.22 */
import type { Concatenation } from '../carrier.ts';
import { checkedPart } from '../text/concatenation.ts';
import type { Tlv } from './layouts.ts';
import { numberTlv, TAGS, u8Tlv, u16Tlv } from './tlvs.ts';

export function sarTlvs({ reference, part, parts }: Concatenation): Tlv[] {
  return [
    u16Tlv(TAGS.sarMsgRefNum, reference),
    u8Tlv(TAGS.sarTotalSegments, parts),
    u8Tlv(TAGS.sarSegmentSeqnum, part),
  ];
}

export function readSarTlvs(tlvs: readonly Tlv[]): Concatenation | undefined {
  const reference = numberTlv(tlvs, TAGS.sarMsgRefNum);
  const parts = numberTlv(tlvs, TAGS.sarTotalSegments);
  const part = numberTlv(tlvs, TAGS.sarSegmentSeqnum);
  return checkedPart(reference, part, parts);
}
