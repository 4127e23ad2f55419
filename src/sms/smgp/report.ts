/** Reads a status report, the content of a deliver. Pure. docs/decisions/0757 */
import type { Receipt } from '../carrier.ts';
import { idOf, printable, receiptOf, stateOfReport } from '../gateways/delivery.ts';
import type { GatewayFields } from '../gateways/settings.ts';
import { SMGP_ID_OCTETS } from './layouts.ts';

/** `id:`, then the id in binary: it may hold any octet, so it is cut by its place. */
const ID_BEGIN = 3;
const ID_END = ID_BEGIN + SMGP_ID_OCTETS;
/** Characters that are kept for operators; after the fields comes the text of the message. */
const MAX_RAW_LETTERS = 200;

/** `number`: the phone's as received. Returns `undefined` if the report has neither an id nor an outcome. */
export function readSmgpReport(
  content: Buffer,
  number: string,
  settings: Pick<GatewayFields, 'statusWords' | 'receiptNumber'>,
): Receipt | undefined {
  if (!/^id:$/i.test(content.toString('latin1', 0, ID_BEGIN))) return undefined;
  const id = idOf(content.toString('hex', ID_BEGIN, ID_END), SMGP_ID_OCTETS);
  const rest = content.toString('latin1', ID_END).replace(/[^ -~]/g, '');
  const [stat, error] = [fieldOf(rest, 'stat'), fieldOf(rest, 'err')];
  const word = printable(/[^0]/.test(error) ? `${stat}/${error}` : stat);
  if (id === '' && word === '') return undefined;
  return receiptOf(
    {
      ...{ id, state: stateOfReport(stat, word, settings), word, number },
      ...{ submitted: fieldOf(rest, 'submit[ _]date'), done: fieldOf(rest, 'done[ _]date') },
      raw: `id:${id}${rest}`.slice(0, MAX_RAW_LETTERS),
    },
    settings,
  );
}

/** Some gateways write the names in other case. */
function fieldOf(fields: string, name: string): string {
  return new RegExp(`\\b${name}:([^ ,;]*)`, 'i').exec(fields)?.[1] ?? '';
}
