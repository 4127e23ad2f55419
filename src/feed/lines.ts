/** A stream of bytes as lines of text. Only LF ends a line: JSON may hold every other separator. */
import { StringDecoder } from 'node:string_decoder';

/**
 * Gives the lines that each chunk completed, without their LF; what follows the last LF is given at the end when it is
 * not empty. Throws when a line grows beyond `maxChars`.
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
