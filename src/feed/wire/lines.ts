/** Splits a stream of bytes into lines of text. Only LF ends a line: JSON may contain all other separators. */
import { StringDecoder } from 'node:string_decoder';

/**
 * Yields the lines that each chunk completes, without their LF, and at the end the text after the last LF unless it is
 * empty. Throws if a line grows beyond `maxChars`.
 */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  maxChars: number,
): AsyncGenerator<readonly string[], void, undefined> {
  const decoder = new StringDecoder('utf8');
  let pieces: string[] = [];
  let pendingChars = 0;
  for await (const chunk of chunks) {
    const [first = '', ...others] = decoder.write(chunk).split('\n');
    pieces.push(first);
    pendingChars += first.length;
    if (pendingChars > maxChars) throw new Error(`a line is longer than ${maxChars} characters`);
    const last = others.pop();
    if (last === undefined) continue;
    yield [pieces.join(''), ...others];
    pieces = [last];
    pendingChars = last.length;
  }
  const rest = pieces.join('') + decoder.end();
  if (rest !== '') yield [rest];
}
