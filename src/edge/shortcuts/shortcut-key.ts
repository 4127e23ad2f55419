/** Key by which a shortcut is found, built as bytes in one buffer for all requests: a look-up creates no strings. */
import { randomInt } from 'node:crypto';

/** Limit of a key, so that clients' choices do not fill the memory. */
const MAX_BYTES = 1_024;

/** A plain GET; a text is empty if the field is absent. */
export interface KeyTexts {
  readonly isTls: boolean;
  /** Host in the form that sites are found by. */
  readonly host: string;
  readonly target: string;
  readonly acceptEncoding: string;
  readonly ifNoneMatch: string;
  readonly ifModifiedSince: string;
}

export class ShortcutKey {
  readonly #words = new Int32Array(MAX_BYTES / 4);
  readonly #bytes = Buffer.from(this.#words.buffer);
  /** Random, so that clients cannot choose keys with the same hash. */
  readonly #seed = randomInt(2 ** 32) | 0;
  #length = 0;
  #isTooLong = false;

  /**
   * Starts a key. Next come the host, then, each after its mark, the target and, if present, `Accept-Encoding` and the
   * conditions.
   */
  begin(isTls: boolean): void {
    this.#isTooLong = false;
    this.#bytes[0] = isTls ? 1 : 0;
    this.#length = 1;
  }

  /** Appends bytes. `Buffer.copy` takes a tenth of a loop's time. */
  add(bytes: Buffer, start: number, end: number): void {
    if (this.#hasRoom(end - start)) this.#length += bytes.copy(this.#bytes, this.#length, start, end);
  }

  /** Appends a text, one byte per character. */
  addText(text: string): void {
    if (this.#hasRoom(text.length)) this.#length += this.#bytes.write(text, this.#length, 'latin1');
  }

  /** Appends a mark, a byte that no part contains. */
  addMark(mark: KeyMark): void {
    if (!this.#hasRoom(1)) return;
    this.#bytes[this.#length] = mark;
    this.#length += 1;
  }

  /** Builds the whole key from texts. */
  fill({ isTls, host, target, acceptEncoding, ifNoneMatch, ifModifiedSince }: KeyTexts): void {
    this.begin(isTls);
    this.addText(host);
    this.#addField(KEY_MARKS.target, target);
    this.#addField(KEY_MARKS.coding, acceptEncoding);
    this.#addField(KEY_MARKS.ifNoneMatch, ifNoneMatch);
    this.#addField(KEY_MARKS.ifModifiedSince, ifModifiedSince);
  }

  #addField(mark: KeyMark, text: string): void {
    if (text === '') return;
    this.addMark(mark);
    this.addText(text);
  }

  /** Returns the hash of the key; `undefined` if the key is too long. */
  end(): number | undefined {
    if (this.#isTooLong) return undefined;
    const bytes = this.#bytes;
    const words = this.#words;
    // Zero padding is unambiguous, since no part contains a zero.
    for (let at = this.#length; (at & 3) !== 0; at++) bytes[at] = 0;
    const count = this.words;
    let hash = this.#seed;
    for (let i = 0; i < count; i++) {
      hash = Math.imul(hash ^ (words[i] ?? 0), 0x9e37_79b1);
      hash ^= hash >>> 15;
    }
    return hash;
  }

  /** Whether the key equals one that `keep` returned. */
  is(kept: Int32Array): boolean {
    const words = this.#words;
    const count = this.words;
    if (kept.length !== count) return false;
    for (let i = 0; i < count; i++) if (kept[i] !== words[i]) return false;
    return true;
  }

  keep(): Int32Array {
    return this.#words.slice(0, this.words);
  }

  get bytes(): number {
    return this.#length;
  }

  get words(): number {
    return (this.#length + 3) >> 2;
  }

  #hasRoom(bytes: number): boolean {
    if (this.#length + bytes > MAX_BYTES) this.#isTooLong = true;
    return !this.#isTooLong;
  }
}

/** Each precedes the part that it names. */
export const KEY_MARKS = { target: 0x0a, coding: 0x0b, ifNoneMatch: 0x0c, ifModifiedSince: 0x0d } as const;
type KeyMark = (typeof KEY_MARKS)[keyof typeof KEY_MARKS];
