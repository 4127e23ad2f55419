/** Reads a status report, the content of a deliver. Pure. docs/decisions/0757 */
import type { Receipt } from '../carrier.ts';
import { idOf, printable, receiptOf, stateOfReport } from '../gateways/delivery.ts';
import type { GatewayFields } from '../gateways/settings.ts';
import { fixedText, hex, readFields, u32 } from '../wire/fixed-codec.ts';
import { OctetReader } from '../wire/octet-reader.ts';
import { CMPP_ID_OCTETS, type CmppVersion, NUMBER_OCTETS } from './layouts.ts';

function reportLayout(version: CmppVersion) {
  return {
    ...{ msgId: hex(CMPP_ID_OCTETS), stat: fixedText(7), submitTime: fixedText(10), doneTime: fixedText(10) },
    ...{ destTerminalId: fixedText(NUMBER_OCTETS[version]), smscSequence: u32 },
  } as const;
}

const LAYOUTS = { '2.0': reportLayout('2.0'), '3.0': reportLayout('3.0') };
const OCTETS_3 = 71;
/** Octets up to the phone's number. */
const LEAST_OCTETS = 35;

/**
 * The length shows the layout: some gateways write that of 2.0 in 3.0. Returns `undefined` if the report is cut before
 * the number.
 */
export function readCmppReport(
  content: Buffer,
  settings: Pick<GatewayFields, 'statusWords' | 'receiptNumber'>,
): Receipt | undefined {
  if (content.length < LEAST_OCTETS) return undefined;
  const layout = LAYOUTS[content.length < OCTETS_3 ? '2.0' : '3.0'];
  const { msgId, stat, submitTime, doneTime, destTerminalId } = readFields(new OctetReader(content, 0), layout).fields;
  const id = idOf(msgId, CMPP_ID_OCTETS);
  const word = printable(stat);
  if (id === '' && word === '') return undefined;
  const times = { submitted: submitTime, done: doneTime };
  // People also know ids as decimal numbers.
  const raw = `Msg_Id:${msgId} (${BigInt(`0x${msgId}`)}) Stat:${word} Submit_time:${printable(submitTime)} Done_time:${printable(doneTime)} Dest_terminal_Id:${printable(destTerminalId)}`;
  return receiptOf(
    { id, state: stateOfReport(stat, word, settings), word, number: destTerminalId, ...times, raw },
    settings,
  );
}
