/** Caches the value made from a text that repeats on one connection, such as a field value. */
import { ownBytes } from '#lib/own-bytes.ts';

/** Longer texts are not cached: connections are many, and each keeps its text while it is open. */
const MAX_BYTES = 1024;

export class RepeatedText<T> {
  readonly #make: (text: string) => T;
  /** Begins with the last text; `#length` bytes are valid. */
  #bytes: Buffer = ownBytes([]);
  #length = 0;
  #made: T;

  /** `make` receives the text with one character per byte. The constructor calls it with the empty text. */
  constructor(make: (text: string) => T) {
    this.#make = make;
    this.#made = make('');
  }

  read(bytes: Buffer, start: number, end: number): T {
    const length = end - start;
    if (length > MAX_BYTES) return this.#make(bytes.toString('latin1', start, end));
    if (length !== this.#length || bytes.compare(this.#bytes, 0, length, start, end) !== 0) {
      if (length > this.#bytes.length) this.#bytes = ownBytes([bytes.subarray(start, end)]);
      else bytes.copy(this.#bytes, 0, start, end);
      this.#length = length;
      this.#made = this.#make(bytes.toString('latin1', start, end));
    }
    return this.#made;
  }
}
