/**
 * Reads the head of an origin's response, or the trailers after its chunks, from pieces of any size. Each byte is
 * examined at most twice, however small the pieces are. Stricter than llhttp: it refuses everything that llhttp
 * refuses, and more. Pure. RFC 9112 §4, §5
 */
import { COLON, CR, LF, SP, skipBlanks, TOKEN_BYTES, trimBlanks, VALUE_BYTES } from '#http/head-bytes.ts';
import { MAX_RESPONSE_HEAD_BYTES } from '../response-limits.ts';

/** Limit of fields in a section; origins send about twenty. */
const MAX_FIELDS = 200;

// Results of `read` that are not offsets.
/** The section continues in the next piece. */
export const MORE = -1;
export const MALFORMED = -2;
export const TOO_LARGE = -3;

export class SectionReader {
  // The parts of the last complete head.
  status = 0;
  /** 0 for HTTP/1.0, 1 for HTTP/1.1. */
  minorVersion = 0;
  reason = '';
  /** Names and values alternating, one character per byte. */
  headers: string[] = [];

  #isHead = true;
  /** Bytes of a section whose end has not arrived. */
  #kept: Buffer = NOTHING;
  #keptBytes = 0;
  // Offsets below count from the beginning of the section.
  #lineAt = 0;
  /** The current line has no end before this offset; 0 if it has not been searched. */
  #searchedTo = 0;
  #reasonAt = 0;
  #reasonEnd = 0;
  /** 0 until the status line has been read. */
  #fieldsAt = 0;
  /** Four offsets per field: start and end of its name, then of its value. */
  readonly #marks: number[] = [];
  #fields = 0;

  /** Must be called before the first piece of each section. */
  begin(kind: 'head' | 'trailers'): void {
    this.#isHead = kind === 'head';
    this.#kept = NOTHING;
    this.#keptBytes = 0;
    this.#lineAt = 0;
    this.#searchedTo = 0;
    this.#fieldsAt = 0;
    this.#fields = 0;
  }

  /** Returns the offset in `bytes` after the section's empty line, or `MORE`, `MALFORMED` or `TOO_LARGE`. */
  read(bytes: Buffer, from: number): number {
    const before = this.#keptBytes;
    if (before > 0) this.#keep(bytes, from);
    const isKept = before > 0;
    const start = isKept ? 0 : from;
    const to = isKept ? this.#keptBytes : Math.min(bytes.length, from + MAX_RESPONSE_HEAD_BYTES);
    const source = isKept ? this.#kept : bytes;
    const end = this.#readLines(source, start, to);
    if (end >= 0) {
      if (this.#isHead) this.#takeHead(source, start, end);
      return from + (end - start) - before;
    }
    if (end !== MORE) return end;
    if (to - start >= MAX_RESPONSE_HEAD_BYTES) return TOO_LARGE;
    if (!isKept) this.#keep(bytes, from);
    return MORE;
  }

  #keep(bytes: Buffer, from: number): void {
    const to = Math.min(bytes.length, from + MAX_RESPONSE_HEAD_BYTES - this.#keptBytes);
    const neededBytes = this.#keptBytes + (to - from);
    if (neededBytes > this.#kept.length) {
      const grown = Buffer.allocUnsafe(Math.max(neededBytes, 2 * this.#kept.length));
      this.#kept.copy(grown, 0, 0, this.#keptBytes);
      this.#kept = grown;
    }
    bytes.copy(this.#kept, this.#keptBytes, from, to);
    this.#keptBytes = neededBytes;
  }

  #readLines(bytes: Buffer, start: number, to: number): number {
    for (;;) {
      const at = start + this.#lineAt;
      if (this.#searchedTo > 0 && !hasLineEnd(bytes, start + this.#searchedTo, to)) return this.#waitForLine(start, to);
      if (at < to && bytes[at] === CR && (this.#fieldsAt > 0 || !this.#isHead)) {
        const end = readLineEnd(bytes, at, to);
        return end === MORE ? this.#waitForLine(start, to) : end;
      }
      const isStatusLine = this.#isHead && this.#fieldsAt === 0;
      const next = isStatusLine ? this.#readStatusLine(bytes, at, to) : this.#readField(bytes, start, at, to);
      if (next === MORE) return this.#waitForLine(start, to);
      if (next < 0) return next;
      if (isStatusLine) this.#fieldsAt = next - start;
      this.#lineAt = next - start;
      this.#searchedTo = 0;
    }
  }

  #waitForLine(start: number, to: number): number {
    this.#searchedTo = to - start;
    return MORE;
  }

  /** Some origins omit the reason and the space before it. RFC 9112 §4 */
  #readStatusLine(bytes: Buffer, from: number, to: number): number {
    for (let i = 0; i < VERSION.length; i++) {
      if (from + i === to) return MORE;
      if (bytes[from + i] !== VERSION[i]) return MALFORMED;
    }
    const at = from + VERSION.length;
    if (to - at < STATUS_BYTES + 1) return MORE;
    const minor = digit(bytes[at]);
    const [hundreds, tens, ones] = [digit(bytes[at + 2]), digit(bytes[at + 3]), digit(bytes[at + 4])];
    if (minor > 1 || bytes[at + 1] !== SP || hundreds < 1 || hundreds > 9 || tens > 9 || ones > 9) return MALFORMED;
    this.minorVersion = minor;
    this.status = hundreds * 100 + tens * 10 + ones;
    const behind = at + STATUS_BYTES;
    if (bytes[behind] !== SP && bytes[behind] !== CR) return MALFORMED;
    const reasonAt = bytes[behind] === SP ? behind + 1 : behind;
    const end = skipValue(bytes, reasonAt, to);
    this.#reasonAt = reasonAt - from;
    this.#reasonEnd = end - from;
    return readLineEnd(bytes, end, to);
  }

  /** A line that begins with a blank would continue the previous one; a proxy may refuse it. RFC 9112 §5.2 */
  #readField(bytes: Buffer, start: number, from: number, to: number): number {
    let colon = from;
    while (colon < to && TOKEN[bytes[colon] ?? 0] === 1) colon++;
    if (colon === to) return MORE;
    if (colon === from || bytes[colon] !== COLON) return MALFORMED; // RFC 9112 §5.1
    const valueAt = skipBlanks(bytes, colon + 1, to);
    const valueEnd = skipValue(bytes, valueAt, to);
    const next = readLineEnd(bytes, valueEnd, to);
    if (next < 0) return next;
    if (this.#fields === MAX_FIELDS) return TOO_LARGE;
    const mark = 4 * this.#fields++;
    const marks = this.#marks;
    marks[mark] = from - start;
    marks[mark + 1] = colon - start;
    marks[mark + 2] = valueAt - start;
    marks[mark + 3] = trimBlanks(bytes, valueAt, valueEnd) - start;
    return next;
  }

  #takeHead(bytes: Buffer, start: number, end: number): void {
    this.reason = bytes.toString('latin1', start + this.#reasonAt, start + this.#reasonEnd);
    const text = bytes.toString('latin1', start, end);
    const marks = this.#marks;
    const headers: string[] = [];
    for (let mark = 0; mark < 4 * this.#fields; mark += 4) {
      headers.push(text.slice(marks[mark], marks[mark + 1]), text.slice(marks[mark + 2], marks[mark + 3]));
    }
    this.headers = headers;
  }
}

function hasLineEnd(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at] === LF) return true;
  return false;
}

/** Only CR LF ends a line: other parsers could split responses at a bare LF or CR. RFC 9112 §2.2 */
function readLineEnd(bytes: Buffer, at: number, to: number): number {
  if (at < to && bytes[at] !== CR) return MALFORMED;
  if (at + 1 >= to) return MORE;
  return bytes[at + 1] === LF ? at + 2 : MALFORMED;
}

function skipValue(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && VALUE[bytes[at] ?? 0] === 1) at++;
  return at;
}

/** Returns more than 9 if the byte is not a digit. */
function digit(byte: number | undefined): number {
  const value = (byte ?? 0) - 0x30;
  return value < 0 ? 10 : value;
}

const NOTHING = Buffer.alloc(0);
const VERSION = Buffer.from('HTTP/1.', 'latin1');
/** Minor version, space and status. */
const STATUS_BYTES = '1 200'.length;

// Local constants, since an imported binding costs one more load per byte.
const TOKEN = TOKEN_BYTES;
const VALUE = VALUE_BYTES;
