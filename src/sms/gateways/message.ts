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

type Coding = typeof UCS2 | typeof GB18030;

/** Codings of each setting, in order of preference. */
const CODINGS: Readonly<Record<GatewayFields['coding'], readonly Coding[]>> = {
  ucs2: [UCS2],
  gb18030: [GB18030],
  auto: [GB18030, UCS2],
};

export function composeGatewayMessage(part: PartToSubmit, settings: GatewayFields): ComposedMessage | WrongField {
  const { sender, destination } = part;
  if (!/^\d{0,21}$/.test(sender)) return 'sender';
  if (!/^\+\d{1,20}$/.test(destination) || isAmbiguous(destination, settings.numberForm)) return 'number';
  const header = part.parts > 1 ? concatenationHeader(part) : EMPTY;
  const limit = MAX_CONTENT_OCTETS - header.length;
  // All parts or none: half a message helps nobody.
  const coding = CODINGS[settings.coding].find((one) => part.texts.every((text) => fits(text, one, limit)));
  const octets = coding && encodeText(part.text, coding);
  if (coding === undefined || octets === undefined) return 'length';
  const content = header.length === 0 ? octets : Buffer.concat([header, octets]);
  const number = writeNumber(destination, settings.numberForm);
  return { sender, number, coding, content, udhi: header.length === 0 ? 0 : settings.udhiValue };
}

const EMPTY = Buffer.alloc(0);

/** Returns `undefined` if the coding cannot write the text. */
function encodeText(text: string, coding: Coding): Buffer | undefined {
  return coding === GB18030 ? encodeGb18030(text) : Buffer.from(text, 'utf16le').swap16();
}

function fits(text: string, coding: Coding, limit: number): boolean {
  if (coding === UCS2) return text.length * 2 <= limit;
  const octets = encodeGb18030(text);
  return octets !== undefined && octets.length <= limit;
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
