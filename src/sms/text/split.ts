/** Splits a text into parts. Their number is charged, whatever coding the carrier gets. docs/decisions/0200 */
import { MAX_SMS_UNITS } from '#model/limits.ts';

export type Split =
  | { readonly kind: 'parts'; readonly parts: readonly string[] }
  | { readonly kind: 'invalid'; readonly reason: InvalidText };

/** `unpaired`: the text has an unpaired surrogate, which no coding can carry. */
export type InvalidText = 'empty' | 'tooLong' | 'unpaired' | 'nul';

/** Limits in UTF-16 units: a part has 140 octets, of which a header of 6 leaves 67 units. */
const SINGLE_UNITS = 70;
const PART_UNITS = 67;

/** Never cuts a surrogate pair, so a text full of them may have one part more than its length suggests. */
export function splitText(text: string): Split {
  const reason = whyInvalid(text);
  if (reason !== undefined) return { kind: 'invalid', reason };
  return { kind: 'parts', parts: text.length <= SINGLE_UNITS ? [text] : cut(text) };
}

/** Returns the most parts that a text of at most `units` UTF-16 units can have. */
export function mostParts(units: number): number {
  return units <= SINGLE_UNITS ? 1 : Math.ceil(Math.min(units, MAX_SMS_UNITS) / (PART_UNITS - 1));
}

function whyInvalid(text: string): InvalidText | undefined {
  if (text.length === 0) return 'empty';
  if (text.length > MAX_SMS_UNITS) return 'tooLong';
  if (!text.isWellFormed()) return 'unpaired';
  return text.includes('\0') ? 'nul' : undefined;
}

function cut(text: string): string[] {
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = from + PART_UNITS;
    const end = isHighSurrogate(text.charCodeAt(to - 1)) ? to - 1 : to;
    parts.push(text.slice(from, end));
    from = end;
  }
  return parts;
}

/** False past the end, where the code is NaN. */
function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}
