/** Cuts a message's text into parts. The number of parts is what is charged, whatever a carrier's coding. docs/decisions/0200 */

export type Split =
  | { readonly kind: 'parts'; readonly parts: readonly string[] }
  | { readonly kind: 'invalid'; readonly reason: InvalidText };

/** `unpaired`: half of a surrogate pair stands alone, which no coding can carry. */
export type InvalidText = 'empty' | 'tooLong' | 'unpaired' | 'nul';

/** Units of UTF-16: one that fits whole has 140 octets, of which a header of 6 leaves 67 units. 536 = 8 × 67. */
export const MAX_TEXT_UNITS = 536;
const SINGLE_UNITS = 70;
const PART_UNITS = 67;

/** No cut falls into a surrogate pair, so that a text full of them can have one part more than its length says. */
export function splitText(text: string): Split {
  const reason = whyInvalid(text);
  if (reason !== undefined) return { kind: 'invalid', reason };
  return { kind: 'parts', parts: text.length <= SINGLE_UNITS ? [text] : cut(text) };
}

/** That a text of so many units, or fewer, can have. */
export function mostParts(units: number): number {
  return units <= SINGLE_UNITS ? 1 : Math.ceil(Math.min(units, MAX_TEXT_UNITS) / (PART_UNITS - 1));
}

function whyInvalid(text: string): InvalidText | undefined {
  if (text.length === 0) return 'empty';
  if (text.length > MAX_TEXT_UNITS) return 'tooLong';
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
