/** What CMPP, SMGP and SGIP write of a part in the same way. Pure. */
import type { PartToSubmit } from '../carrier.ts';
import { concatenationHeader } from '../text/concatenation.ts';
import { encodeGb18030 } from '../text/gb18030.ts';
import type { GatewayFields } from './settings.ts';

export interface ComposedMessage {
  readonly sender: string;
  readonly number: string;
  readonly coding: number;
  /** The user data header, if there are several parts, and the text. */
  readonly content: Buffer;
  /** Value of TP_udhi; 0: no header. */
  readonly udhi: number;
}

/** A part that no gateway would take. */
export type WrongField = 'sender' | 'number' | 'length';

const MAX_CONTENT_OCTETS = 140;
const UCS2 = 8;
const GB18030 = 15;

export function composeGatewayMessage(part: PartToSubmit, settings: GatewayFields): ComposedMessage | WrongField {
  const { sender, destination } = part;
  if (!/^\d{0,21}$/.test(sender)) return 'sender';
  if (!/^\+\d{1,20}$/.test(destination) || isAmbiguous(destination, settings.numberForm)) return 'number';
  const header = part.parts > 1 ? concatenationHeader(part) : EMPTY;
  const coded = encodeText(part.text, settings.coding, MAX_CONTENT_OCTETS - header.length);
  if (coded === undefined) return 'length';
  const content = header.length === 0 ? coded.octets : Buffer.concat([header, coded.octets]);
  const number = writeNumber(destination, settings.numberForm);
  return { sender, number, coding: coded.coding, content, udhi: header.length === 0 ? 0 : settings.udhiValue };
}

const EMPTY = Buffer.alloc(0);

/** Returns `undefined` if the text does not fit. `auto`: in GB18030 if it fits so. */
function encodeText(
  text: string,
  coding: GatewayFields['coding'],
  octets: number,
): { readonly coding: number; readonly octets: Buffer } | undefined {
  const chinese = coding === 'ucs2' ? undefined : encodeGb18030(text);
  if (chinese !== undefined && chinese.length <= octets) return { coding: GB18030, octets: chinese };
  if (coding === 'gb18030' || text.length * 2 > octets) return undefined;
  return { coding: UCS2, octets: Buffer.from(text, 'utf16le').swap16() };
}

/** Whether a number of North America, without its `+`, would read as a phone of the mainland: somebody else's. */
function isAmbiguous(e164: string, form: GatewayFields['numberForm']): boolean {
  return form !== 'plus86' && /^\+1[3-9]\d{9}$/.test(e164);
}

/** `e164`: with `+`. Numbers of other countries are written with their code in every form. */
function writeNumber(e164: string, form: GatewayFields['numberForm']): string {
  if (form === 'plus86') return e164;
  return form === 'bare' && e164.startsWith('+86') ? e164.slice(3) : e164.slice(1);
}
