/** Reads the octets of a PDU leniently: beyond the end, numbers are 0 and texts are empty. */

/** Maximum octets of a text that ends with NUL; the rest is dropped. */
const MAX_TEXT_OCTETS = 255;

export class OctetReader {
  readonly #bytes: Buffer;
  #at: number;

  /** `at`: where to begin. */
  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Number of octets that are not read yet. */
  get left(): number {
    return this.#bytes.length - this.#at;
  }

  u8(): number {
    return this.#number(1);
  }

  u32(): number {
    return this.#number(4);
  }

  /** Returns fewer octets if the PDU ends earlier. */
  octets(count: number): Buffer {
    return this.#take(this.#at + count);
  }

  /** Reads `count` octets as hexadecimal digits; fewer if the PDU ends earlier. */
  hex(count: number): string {
    const begin = this.#at;
    this.#at = Math.min(begin + count, this.#bytes.length);
    return this.#bytes.toString('hex', begin, this.#at);
  }

  /** Reads a text in a field of `count` octets, up to its first NUL, without blanks around it. */
  fixedText(count: number): string {
    const begin = this.#at;
    this.#at = Math.min(begin + count, this.#bytes.length);
    const nul = this.#bytes.indexOf(0, begin);
    return this.#bytes.toString('latin1', begin, nul === -1 ? this.#at : Math.min(nul, this.#at)).trim();
  }

  /**
   * Reads a text up to its NUL or the end of the PDU. Its size is not checked: carriers exceed those of the standard.
   */
  text(): string {
    const nul = this.#bytes.indexOf(0, this.#at);
    const text = this.#take(nul === -1 ? this.#bytes.length : nul);
    this.#at = Math.min(this.#at + 1, this.#bytes.length);
    return text.toString('latin1', 0, MAX_TEXT_OCTETS);
  }

  rest(): Buffer {
    return this.#take(this.#bytes.length);
  }

  #number(octets: number): number {
    const taken = this.#take(this.#at + octets);
    return taken.length === octets ? taken.readUIntBE(0, octets) : 0;
  }

  #take(to: number): Buffer {
    const end = Math.min(to, this.#bytes.length);
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}
