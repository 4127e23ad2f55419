/** Reads a deliver of the gateway: a report, a reply, or one that cannot be read. Pure. docs/decisions/0757 */
import type { UnreadReason } from '../carrier.ts';
import { readReply } from '../gateways/delivery.ts';
import type { GatewayFields } from '../gateways/settings.ts';
import type { Delivery } from '../wire/dialect.ts';
import type { SmgpPacketOf } from './layouts.ts';
import { readSmgpReport } from './report.ts';
import { numberOf, SMGP_TAGS } from './tlvs.ts';

const IS_REPORT = 1;

export function readSmgpDelivery(
  { fields, missing, rest }: SmgpPacketOf<'deliver'>,
  frame: Buffer,
  settings: Pick<GatewayFields, 'statusWords' | 'receiptNumber'>,
): Delivery {
  const unread = (reason: UnreadReason): Delivery => ({
    kind: 'unread',
    unread: { reason, command: 'SMGP_DELIVER', octets: frame },
  });
  if (missing !== undefined && missing !== 'reserve') return unread('cut');
  const { msgContent: content, msgFormat: coding, srcTermId: from, destTermId: to } = fields;
  if (fields.isReport !== IS_REPORT) {
    const udhi = numberOf(rest, SMGP_TAGS.tpUdhi);
    return { kind: 'reply', message: readReply({ from, to, coding, udhi, content }) };
  }
  const receipt = readSmgpReport(content, from, settings);
  return receipt === undefined ? unread('empty') : { kind: 'receipt', receipt };
}
