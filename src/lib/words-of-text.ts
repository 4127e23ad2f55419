/** A short text of bytes among the words of an array that holds other things too: how long it is, then four bytes in each word. */

/** What a text of at most so many bytes takes. */
export function wordsFor(maxBytes: number): number {
  return 1 + ((maxBytes + 3) >> 2);
}

/** Writes the bytes from `at` on, over what is there. */
export function writeText(words: Int32Array, at: number, bytes: Uint8Array, start: number, end: number): void {
  words[at] = end - start;
  for (let from = start, i = at + 1; from < end; from += 4, i++) words[i] = wordAt(bytes, from) & maskOf(end - from);
}

/**
 * Returns the end of the text written from `at` on, if the bytes from `start` to `end` begin with it; else -1. An empty
 * text never matches.
 */
export function endOfText(words: Int32Array, at: number, bytes: Uint8Array, start: number, end: number): number {
  const length = words[at] ?? 0;
  const to = start + length;
  if (length === 0 || to > end) return -1;
  for (let from = start, i = at + 1; from < to; from += 4, i++)
    if (words[i] !== (wordAt(bytes, from) & maskOf(to - from))) return -1;
  return to;
}

/** The same of a text, a character for each byte. */
export function endInText(words: Int32Array, at: number, text: string): number {
  const length = words[at] ?? 0;
  if (length === 0 || length > text.length) return -1;
  for (let i = 0; i < length; i++)
    if ((((words[at + 1 + (i >> 2)] ?? 0) >>> (8 * (i & 3))) & 0xff) !== text.charCodeAt(i)) return -1;
  return length;
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}

/** Mask of the `left` bytes of a word that are in use. */
function maskOf(left: number): number {
  return left >= 4 ? -1 : (1 << (8 * left)) - 1;
}
