/** Writes the octets of a PDU, which begins with its length. Throws a RangeError if a value does not fit its field. */

/** Initial size, enough for most PDUs; the buffer grows if needed. */
const USUAL_OCTETS = 256;

export class OctetWriter {
  #bytes = Buffer.allocUnsafe(USUAL_OCTETS);
  #end = 0;

  u8(name: string, value: number): void {
    if (!Number.isInteger(value) || value < 0 || value > 0xff) throw new RangeError(`${name}: not an octet`);
    const at = this.#take(1);
    this.#bytes[at] = value;
  }

  u16(value: number): void {
    const at = this.#take(2);
    this.#bytes.writeUInt16BE(value, at);
  }

  u32(value: number): void {
    const at = this.#take(4);
    this.#bytes.writeUInt32BE(value, at);
  }

  octets(value: Buffer): void {
    const at = this.#take(value.length);
    this.#bytes.set(value, at);
  }

  /** Writes `count` octets from hexadecimal digits; zeros if there are none. */
  hex(name: string, digits: string, count: number): void {
    if (digits !== '' && (digits.length !== 2 * count || !/^[\da-f]*$/i.test(digits)))
      throw new RangeError(`${name}: not ${count} octets in hexadecimal`);
    const begin = this.#take(count);
    if (digits === '') this.#bytes.fill(0, begin, begin + count);
    else this.#bytes.write(digits, begin, 'hex');
  }

  /** Writes Latin-1 with a final NUL. */
  text(name: string, text: string, maxOctets: number): void {
    if (text.length >= maxOctets) throw new RangeError(`${name}: at most ${maxOctets - 1} octets`);
    this.#letters(name, text, text.length + 1);
  }

  /** Writes Latin-1 into a field of `count` octets; NULs fill the rest. */
  fixedText(name: string, text: string, count: number): void {
    if (text.length > count) throw new RangeError(`${name}: at most ${count} octets`);
    this.#letters(name, text, count);
  }

  /** Returns the PDU. */
  finish(): Buffer {
    this.#bytes.writeUInt32BE(this.#end, 0);
    return this.#bytes.subarray(0, this.#end);
  }

  #letters(name: string, text: string, count: number): void {
    const begin = this.#take(count);
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (code === 0 || code > 0xff) throw new RangeError(`${name}: a character that it cannot have`);
      this.#bytes[begin + index] = code;
    }
    this.#bytes.fill(0, begin + text.length, begin + count);
  }

  /** Reserves `count` octets and returns their offset. It may replace `#bytes`, so it is called before they are used. */
  #take(count: number): number {
    const begin = this.#end;
    this.#end += count;
    if (this.#end > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#end, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, begin);
      this.#bytes = larger;
    }
    return begin;
  }
}
