/** A text that comes again and again in the bytes of one connection, as the value of a field does: made once. */
import { ownBytes } from '#lib/own-bytes.ts';

/** Longer texts are made each time: connections are many, and a client may keep one for as long as it likes. */
const MAX_BYTES = 1024;

export class RepeatedText<T> {
  readonly #make: (text: string) => T;
  /** The last text is at its beginning. */
  #bytes: Buffer = ownBytes([]);
  #length = 0;
  #made: T;

  /** `make`: of the bytes, a character each. It is asked for the empty text at once. */
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
