/** Recognises replies that opt out: one of the words alone, in any case, width and punctuation. Pure. */

const WORDS: readonly string[] = ['R', 'T', 'TD', '退订', 'STOP'];
/** Removed from a reply: blanks anywhere, and punctuation around the word. */
const BLANKS = /[\p{Z}\p{C}]+/gu;
const AROUND = /^[\p{P}~`]+|[\p{P}~`]+$/gu;

/** `texts`: the possible decodings of the reply. Only the whole text counts: "Thank you" begins with T. */
export function isOptOut(texts: readonly string[]): boolean {
  return texts.some((text) => WORDS.includes(plainWord(text)));
}

function plainWord(text: string): string {
  return text.normalize('NFKC').replace(BLANKS, '').replace(AROUND, '').toUpperCase();
}
