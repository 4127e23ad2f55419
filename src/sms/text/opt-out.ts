/** Whether a reply refuses more messages: one of the words alone, however it is typed. Pure. */

const WORDS: readonly string[] = ['R', 'T', 'TD', '退订', 'STOP'];
/** Blanks anywhere, and everything around the word that is no letter or digit of it. */
const BLANKS = /[\p{Z}\p{C}]+/gu;
const AROUND = /^[\p{P}~`]+|[\p{P}~`]+$/gu;

/** `texts`: what the reply may say. The whole text counts, since "Thank you" is no refusal. */
export function isOptOut(texts: readonly string[]): boolean {
  return texts.some((text) => WORDS.includes(plainWord(text)));
}

function plainWord(text: string): string {
  return text.normalize('NFKC').replace(BLANKS, '').replace(AROUND, '').toUpperCase();
}
