/**
 * Tracks the request lines of a connection that node:http reads. Its parser rejects bytes beyond ASCII in targets and
 * does not report the protocol name. So these bytes are replaced before the parser sees them, and each line is kept for
 * its request. Pure. docs/decisions/0416
 */
import { trimOws } from './headers.ts';
import { MAX_TARGET_BYTES } from './request.ts';

export interface SentLine {
  readonly method: string;
  /** Target as sent, one character per byte; cut at the longest accepted length. */
  readonly target: string;
  /** The target as the parser receives it. */
  readonly parsedTarget: string;
  /** Such as `HTTP/1.1`; may be cut if it is not a version. */
  readonly version: string;
}

/** Longer targets are refused, and longer field lines do not matter here. */
const MAX_LINE_CHARS = MAX_TARGET_BYTES + 64;
/** Lines of requests that the parser has not emitted yet; it emits each as soon as its head is complete. */
const MAX_LINES = 10_000;

/** Position of the next byte in the protocol. `lost`: unknown, so nothing is replaced any more. */
type Place = 'line' | 'head' | 'body' | 'chunkSize' | 'chunkData' | 'chunkEnd' | 'trailers' | 'lost';

export class RequestLines {
  #place: Place = 'line';
  /** Beginning of an incomplete request line, up to its limit. */
  #text = '';
  /** Blanks in the incomplete request line. */
  #blanks = 0;
  readonly #lines: SentLine[] = [];
  #method = '';
  /** `Content-Length` of the incomplete head. */
  #lengthBytes: number | undefined;
  #isChunked = false;
  /** Remaining bytes of the body, or of a chunk. */
  #leftBytes = 0;

  /** Returns the bytes for the parser: `bytes` with unsupported target bytes replaced. `bytes` is not modified. */
  take(bytes: Buffer): Buffer {
    let given = bytes;
    for (let at = 0; at < bytes.length && this.#place !== 'lost'; ) {
      if (this.#place === 'body' || this.#place === 'chunkData') {
        const skipped = Math.min(this.#leftBytes, bytes.length - at);
        at += skipped;
        this.#leftBytes -= skipped;
        if (this.#leftBytes === 0) this.#place = this.#place === 'body' ? 'line' : 'chunkEnd';
        continue;
      }
      const lineEnd = bytes.indexOf(LF, at);
      const end = lineEnd === -1 ? bytes.length : lineEnd;
      if (this.#place === 'line') given = this.#replaceIn(given, bytes, at, end);
      this.#text += bytes.toString('latin1', at, Math.min(end, at + MAX_LINE_CHARS - this.#text.length));
      at = end + 1;
      if (lineEnd !== -1) this.#onLine();
    }
    return given;
  }

  /** Returns the line of the request that the parser emits next; `undefined` if it is unknown. */
  next(): SentLine | undefined {
    return this.#lines.shift();
  }

  /**
   * Replaces the bytes of a request line that the parser would refuse, beginning at `from`. Copies only if there are
   * any.
   */
  #replaceIn(given: Buffer, bytes: Buffer, from: number, end: number): Buffer {
    let copy = given;
    for (let at = from; at < end && this.#blanks < 2; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === SP) this.#blanks += 1;
      if (byte < 0x80 || this.#blanks !== 1) continue;
      if (copy === bytes) copy = Buffer.from(bytes);
      copy[at] = STAND_IN;
    }
    return copy;
  }

  #onLine(): void {
    const text = this.#text.endsWith('\r') ? this.#text.slice(0, -1) : this.#text;
    this.#text = '';
    this.#blanks = 0;
    switch (this.#place) {
      case 'line':
        if (text !== '') this.#onRequestLine(text); // RFC 9112 §2.2
        break;
      case 'head':
        if (text === '') this.#onHeadEnd();
        else this.#onField(text);
        break;
      case 'chunkSize':
        this.#onChunkSize(text);
        break;
      case 'chunkEnd':
        this.#place = text === '' ? 'chunkSize' : 'lost';
        break;
      case 'trailers':
        if (text === '') this.#place = 'line';
    }
  }

  #onRequestLine(text: string): void {
    const [method = '', target = '', version = ''] = text.split(' ');
    this.#method = method;
    this.#lengthBytes = undefined;
    this.#isChunked = false;
    this.#lines.push({ method, target, parsedTarget: target.replace(/[\x80-\xff]/g, STAND_IN_TEXT), version });
    this.#place = this.#lines.length > MAX_LINES ? 'lost' : 'head';
  }

  /** Reads the fields that frame the message. Ambiguous framing is left to the parser. RFC 9112 §6 */
  #onField(text: string): void {
    const colon = text.indexOf(':');
    const value = trimOws(text.slice(colon + 1)).toLowerCase();
    switch (text.slice(0, Math.max(0, colon)).toLowerCase()) {
      case 'content-length':
        if (this.#lengthBytes !== undefined || !/^\d{1,15}$/.test(value)) this.#place = 'lost';
        this.#lengthBytes = Number(value);
        break;
      case 'transfer-encoding':
        if (this.#isChunked || value !== 'chunked') this.#place = 'lost';
        this.#isChunked = true;
        break;
      case 'upgrade': // node:http may release the connection
      case '':
        this.#place = 'lost';
    }
  }

  #onHeadEnd(): void {
    const length = this.#lengthBytes ?? 0;
    if (this.#method === 'CONNECT' || (this.#isChunked && this.#lengthBytes !== undefined)) this.#place = 'lost';
    else if (this.#isChunked) this.#place = 'chunkSize';
    else this.#place = length === 0 ? 'line' : 'body';
    this.#leftBytes = length;
  }

  /** RFC 9112 §7.1 */
  #onChunkSize(text: string): void {
    const size = /^[0-9a-f]{1,12}(?=$|[;\t ])/i.exec(text)?.[0];
    this.#leftBytes = Number.parseInt(size ?? '0', 16);
    if (size === undefined) this.#place = 'lost';
    else this.#place = this.#leftBytes === 0 ? 'trailers' : 'chunkData';
  }
}

/** Whether the parser's method and target match the line, and the line names HTTP. */
export function isOfLine(line: SentLine, method: string, url: string): boolean {
  if (line.method !== method || !url.startsWith(line.parsedTarget)) return false;
  return url.length > MAX_TARGET_BYTES || (url === line.parsedTarget && VERSION.test(line.version));
}

/** The parser also accepts RTSP and ICE. RFC 9112 §2.3 */
const VERSION = /^HTTP\/\d\.\d$/;

const LF = 0x0a;
const SP = 0x20;
/** Allowed anywhere in a target. `isOfLine` distinguishes it from an original character. */
const STAND_IN_TEXT = 'x';
const STAND_IN = 0x78;
