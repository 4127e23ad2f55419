/** Expands the short lines of a spool to the whole lines that they stand for. */
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { ANSWERED_FIELDS, LINE_FIELDS } from './line.ts';
import { MAX_LINES_BACK, SHORT_LINE } from './short-line.ts';

/** Lines per turn of the event loop. */
const LINES_AT_ONCE = 2_000;
const LF = 0x0a;

/**
 * `bytes`: whole batches, except the last, which may be truncated. Bytes that are not a line stay as they are. Returns
 * the same buffer if there are no short lines.
 */
export async function expandLines(bytes: Buffer): Promise<Buffer> {
  if (bytes[0] !== SHORT_LINE && !bytes.includes(`\n${String.fromCharCode(SHORT_LINE)}`)) return bytes;
  const expander = new LineExpander();
  const pieces: Buffer[] = [];
  let text = '';
  let lines = 0;
  let start = 0;
  for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
    text += expander.expand(bytes.toString('latin1', start, end + 1));
    start = end + 1;
    if (++lines % LINES_AT_ONCE !== 0) continue;
    pieces.push(Buffer.from(text, 'latin1'));
    text = '';
    await yieldToOthers();
  }
  pieces.push(Buffer.from(text, 'latin1'), bytes.subarray(start));
  return Buffer.concat(pieces);
}

/** A whole line. Fields have no NUL: a disk that lost power leaves NULs in place of unwritten bytes. */
const WHOLE = new RegExp(`^\\d+(?:\\t[^\\t\\n\\0]+){${LINE_FIELDS.length}}\\n$`);

/**
 * A short line: how many lines back its answer and its client are, how much later it was, and its own three numbers.
 * Longer numbers than are ever written make it invalid.
 */
const SHORT = /^=(\d{1,5})\t(\d{1,5})\t(\d{1,5})\t(\d+\t\d+\t\d+)\n$/;

/** Expands lines with their line ends, one character per byte, in the order of the file. */
export class LineExpander {
  /** Ring of the last whole lines; those that short lines refer to are split. */
  readonly #lines: (string | Parts | undefined)[] = new Array<undefined>(MAX_LINES_BACK).fill(undefined);
  /** Lines since the last invalid one, where lines may be missing. */
  #count = 0;

  expand(line: string): string {
    if (line.charCodeAt(0) !== SHORT_LINE) {
      if (!WHOLE.test(line)) return this.#startAnew(line);
      this.#lines[this.#count++ % MAX_LINES_BACK] = line;
      return line;
    }
    const [, answeredBack, clientBack, laterMs, own] = SHORT.exec(line) ?? [];
    if (own === undefined) return this.#startAnew(line);
    const answered = this.#partsOf(Number(answeredBack));
    const client = this.#partsOf(Number(clientBack));
    if (answered === undefined || client === undefined) return line;
    return `${answered.domainId}${client.address}${timeAt(answered, Number(laterMs))}${own}${answered.answered}${client.fields}`;
  }

  #startAnew(line: string): string {
    this.#count = 0;
    return line;
  }

  #partsOf(back: number): Parts | undefined {
    if (!(back < Math.min(this.#count, MAX_LINES_BACK))) return undefined;
    const at = (this.#count - 1 - back) % MAX_LINES_BACK;
    const known = this.#lines[at];
    if (typeof known !== 'string') return known;
    const parts = takeApart(known);
    if (parts !== undefined) this.#lines[at] = parts;
    return parts;
  }
}

/** Parts of a whole line, with the TABs around them. */
interface Parts {
  readonly domainId: string;
  readonly address: string;
  /** Local time in milliseconds, and the text after it. */
  readonly clockMs: number;
  readonly offset: string;
  /** The six fields of the answer, and the two of the client with the line's end. */
  readonly answered: string;
  readonly fields: string;
  /** Latest request, for which the text is kept. */
  laterMs: number;
  time: string;
}

/** Characters of the time before its UTC offset. */
const CLOCK_CHARS = '2025-01-31T23:59:59.123'.length;

/** Index of the first field of the answer, after the domain's id. */
const ANSWERED_AT = 1 + LINE_FIELDS.indexOf(ANSWERED_FIELDS.first);
const CLIENT_AT = 2 + LINE_FIELDS.indexOf(ANSWERED_FIELDS.last);

function takeApart(line: string): Parts | undefined {
  const fields = line.split('\t');
  const [domainId = '', address = '', time = ''] = fields;
  const clockMs = Date.parse(`${time.slice(0, CLOCK_CHARS)}Z`);
  if (Number.isNaN(clockMs)) return undefined;
  const answered = fields.slice(ANSWERED_AT, CLIENT_AT).join('\t');
  const offset = time.slice(CLOCK_CHARS);
  return {
    domainId: `${domainId}\t`,
    address: `${address}\t`,
    clockMs,
    offset: `${offset}\t`,
    answered: `\t${answered}\t`,
    fields: fields.slice(CLIENT_AT).join('\t'),
    laterMs: 0,
    time: `${time}\t`,
  };
}

function timeAt(parts: Parts, laterMs: number): string {
  if (laterMs !== parts.laterMs) {
    parts.time = new Date(parts.clockMs + laterMs).toISOString().slice(0, CLOCK_CHARS) + parts.offset;
    parts.laterMs = laterMs;
  }
  return parts.time;
}
