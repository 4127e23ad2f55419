/** Reads the size line of a chunk from pieces of any size. Pure. RFC 9112 §7.1 */
import { CR, LF } from '#http/head-bytes.ts';
import { MALFORMED, MORE } from './section-reader.ts';

/** Limit of hexadecimal digits: a larger number would not be exact. */
const MAX_DIGITS = 13;
const MAX_EXTENSION_BYTES = 1024;

export class ChunkSizeReader {
  /** Size of the chunk in bytes, once the line has been read. 0 marks the last chunk. */
  size = 0;
  #digits = 0;
  #extension = '';
  #part: 'size' | 'extension' | 'end' = 'size';

  /** Must be called before the first piece of each line. */
  begin(): void {
    this.size = 0;
    this.#digits = 0;
    this.#extension = '';
    this.#part = 'size';
  }

  /** Returns the offset after the line, `MORE` or `MALFORMED`. */
  read(bytes: Buffer, from: number): number {
    let at = from;
    if (this.#part === 'size') {
      at = this.#readSize(bytes, at);
      if (at < 0) return at;
    }
    if (this.#part === 'extension') {
      at = this.#readExtension(bytes, at);
      if (at < 0) return at;
    }
    if (at === bytes.length) return MORE;
    return bytes[at] === LF ? at + 1 : MALFORMED;
  }

  /** Returns the offset after the CR, or of the semicolon. */
  #readSize(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const value = HEX[bytes[at] ?? 0] ?? NO_HEX;
      if (value !== NO_HEX) {
        if (++this.#digits > MAX_DIGITS) return MALFORMED;
        this.size = this.size * 16 + value;
        continue;
      }
      if (this.#digits === 0) return MALFORMED;
      if (bytes[at] === CR) {
        this.#part = 'end';
        return at + 1;
      }
      this.#part = 'extension';
      return bytes[at] === SEMICOLON ? at : MALFORMED;
    }
    return MORE;
  }

  /** Extensions are validated and ignored. RFC 9112 §7.1.1 */
  #readExtension(bytes: Buffer, from: number): number {
    const cr = bytes.indexOf(CR, from);
    const to = cr === -1 ? bytes.length : cr;
    if (this.#extension.length + (to - from) > MAX_EXTENSION_BYTES) return MALFORMED;
    this.#extension += bytes.toString('latin1', from, to);
    if (cr === -1) return MORE;
    if (!EXTENSIONS.test(this.#extension)) return MALFORMED;
    this.#part = 'end';
    return cr + 1;
  }
}

const SEMICOLON = 0x3b;
const EXTENSIONS =
  /^(?:;[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:=(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"))?)*$/;

const NO_HEX = 16;
const HEX = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return /[0-9a-f]/i.test(character) ? Number.parseInt(character, 16) : NO_HEX;
});
