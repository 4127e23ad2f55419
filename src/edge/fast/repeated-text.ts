/** A text that comes again and again in the bytes of one connection, as the value of a field does: made once. */
import { ownBytes } from '#lib/own-bytes.ts';

export class RepeatedText<T> {
  readonly #make: (text: string) => T;
  #bytes: Buffer = Buffer.alloc(0);
  #made: T;

  /** `make`: of the bytes, a character each. It is asked for the empty text at once. */
  constructor(make: (text: string) => T) {
    this.#make = make;
    this.#made = make('');
  }

  read(bytes: Buffer, start: number, end: number): T {
    const known = this.#bytes;
    if (end - start !== known.length || bytes.compare(known, 0, known.length, start, end) !== 0) {
      this.#made = this.#make(bytes.toString('latin1', start, end));
      this.#bytes = ownBytes([bytes.subarray(start, end)]);
    }
    return this.#made;
  }
}
