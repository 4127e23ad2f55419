/** Reads an export line by line, beginning with its head; errors name the line. */
import { createHash, type Hash } from 'node:crypto';
import { type ExportHead, type ExportLine, LineError, MAX_LINE_BYTES, parseHead, parseLine } from './lines.ts';

/** The file is invalid; the message begins with the line. */
export class ExportError extends Error {}

export interface NumberedRow extends Extract<ExportLine, { readonly kind: 'row' }> {
  /** Number of the line; the first is 1. */
  readonly number: number;
}

export interface OpenExport {
  readonly head: ExportHead;
  /** Ends after the last line if everything before it is unchanged; otherwise throws `ExportError`. */
  readonly rows: AsyncIterable<NumberedRow>;
}

/** Throws `ExportError`. */
export async function openExport(bytes: AsyncIterable<Uint8Array>): Promise<OpenExport> {
  const lines = splitLines(bytes);
  const hash = createHash('sha256');
  const { value: first } = await lines.next();
  if (first === undefined) throw new ExportError('line 1: the file is empty');
  hash.update(first);
  const head = at(1, () => parseHead(decode(first)));
  return { head, rows: readRows(lines, hash) };
}

async function* readRows(lines: AsyncGenerator<Buffer, void>, hash: Hash): AsyncGenerator<NumberedRow> {
  const counts = new Map<string, number>();
  let number = 1;
  let end: Extract<ExportLine, { kind: 'end' }> | undefined;
  for await (const bytes of lines) {
    number += 1;
    if (end !== undefined) throw new ExportError(`line ${number}: it follows the last line of an export`);
    const line = at(number, () => parseLine(decode(bytes)));
    if (line.kind === 'end') {
      end = line;
      continue;
    }
    hash.update(bytes);
    counts.set(line.table, (counts.get(line.table) ?? 0) + 1);
    yield { ...line, number };
  }
  if (end === undefined) throw new ExportError(`line ${number + 1}: the last line is missing, the file is cut`);
  for (const [table, count] of Object.entries(end.rows)) {
    const found = counts.get(table) ?? 0;
    if (found !== count) throw new ExportError(`line ${number}: it tells of ${count} rows of ${table}, not ${found}`);
  }
  if (hash.digest('hex') !== end.sha256)
    throw new ExportError(`line ${number}: the SHA-256 of the lines before is another one, some of them were changed`);
}

/** Splits into lines including their line feeds, which the last one may lack. */
async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void> {
  let number = 1;
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield Buffer.concat([...parts, chunk.subarray(start, end + 1)]);
      number += 1;
      [parts, size, start] = [[], 0, end + 1];
    }
    parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > MAX_LINE_BYTES) throw new ExportError(`line ${number}: it is longer than a line of an export can be`);
  }
  if (size > 0) yield Buffer.concat(parts);
}

const LINE_FEED = 0x0a;

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new LineError('it is not UTF-8', { cause });
  }
}

export function at<T>(number: number, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof LineError) throw new ExportError(`line ${number}: ${cause.message}`, { cause });
    throw cause;
  }
}
