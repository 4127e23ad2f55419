/** The words of a connector's own table, and which of them a carrier's word is. Pure. docs/decisions/0422, 0468 */

/** What a word in a carrier's receipts means for a part. */
export interface StatusWord {
  /** Word of the receipt, in any case; with a final `*` every word that begins so. */
  readonly word: string;
  readonly state: WordState;
  /** Why, in a word for programs; absent: the table does not say. */
  readonly group?: WordGroup;
  /** The reason in a sentence for people, if there is one. */
  readonly text?: WordText;
}

interface WordText {
  readonly 'zh-CN'?: string;
  readonly en?: string;
}

export const WORD_STATES = ['delivered', 'failed', 'expired', 'unknown', 'onTheWay'] as const;
export type WordState = (typeof WORD_STATES)[number];

/**
 * The phone is away, suspended, off or full; the rest is why the carrier did not want the message, or could not deliver
 * it.
 */
type WordGroup =
  | 'absent'
  | 'suspended'
  | 'off'
  | 'full'
  | 'blacklist'
  | 'content'
  | 'signature'
  | 'frequency'
  | 'optout'
  | 'route'
  | 'ported'
  | 'carrier'
  | 'other';

/**
 * The first of `words` is the whole of what a carrier said; others are what it begins with. A whole word goes before
 * one that ends with `*`, and a longer one before a shorter one.
 */
export function findStatusWord(words: readonly string[], own: readonly StatusWord[]): StatusWord | undefined {
  const said = words.map((word) => word.toUpperCase());
  const fits = own.filter((entry) => {
    const known = entry.word.toUpperCase();
    const isBeginning = known.endsWith('*');
    return said.some((word) => (isBeginning ? word.startsWith(known.slice(0, -1)) : word === known));
  });
  return fits.toSorted((a, b) => weightOf(b) - weightOf(a))[0];
}

/** What a stored word, which may have an error code behind it, means by that table. */
export function explainWord(word: string, own: readonly StatusWord[]): StatusWord | undefined {
  if (word === '' || own.length === 0) return undefined;
  const [stat = ''] = word.split('/', 1);
  return findStatusWord([word, stat], own);
}

/** More than any beginning has. */
const WHOLE = 1_000;

function weightOf({ word }: StatusWord): number {
  return word.endsWith('*') ? word.length : WHOLE + word.length;
}
