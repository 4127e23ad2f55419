/** Reads a deliver of the gateway: a report, a reply, or one that cannot be read. Pure. docs/decisions/0757 */
import type { UnreadReason } from '../carrier.ts';
import { readReply } from '../gateways/delivery.ts';
import type { GatewayFields } from '../gateways/settings.ts';
import type { Delivery } from '../wire/dialect.ts';
import type { CmppPacketOf } from './layouts.ts';
import { readCmppReport } from './report.ts';

const IS_REPORT = 1;

export function readCmppDelivery(
  { fields, missing }: CmppPacketOf<'deliver'>,
  frame: Buffer,
  settings: Pick<GatewayFields, 'statusWords' | 'receiptNumber'>,
): Delivery {
  const unread = (reason: UnreadReason): Delivery => ({
    kind: 'unread',
    unread: { reason, command: 'CMPP_DELIVER', octets: frame },
  });
  // After the content there is only the LinkID, which many gateways leave out.
  if (missing !== undefined && missing !== 'linkId') return unread('cut');
  const { msgContent: content, msgFmt: coding, tpUdhi: udhi, srcTerminalId: from, destId: to } = fields;
  if (fields.registeredDelivery !== IS_REPORT)
    return { kind: 'reply', message: readReply({ from, to, coding, udhi, content }) };
  const receipt = readCmppReport(content, settings);
  return receipt === undefined ? unread('empty') : { kind: 'receipt', receipt };
}
