/** Reads the bit fields of codec headers. Past the end it returns zeros, so that callers check `isPastEnd` once. */

export class BitReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Whether more bits were read than there are, so that the results are void. */
  get isPastEnd(): boolean {
    return this.#at > this.#bytes.length * 8;
  }

  /** Reads an unsigned number of 0 to 32 bits. */
  read(bits: number): number {
    let value = 0;
    for (let end = this.#at + bits; this.#at < end; this.#at++) {
      const byte = this.#bytes[this.#at >> 3] ?? 0;
      value = value * 2 + ((byte >> (7 - (this.#at & 7))) & 1);
    }
    return value;
  }

  flag(): boolean {
    return this.read(1) === 1;
  }

  skip(bits: number): void {
    this.#at += bits;
  }

  /** Reads an unsigned Exp-Golomb number, ue(v) of ITU-T H.264 §9.1; also AV1's uvlc(). */
  readUnsigned(): number {
    let zeros = 0;
    while (zeros < 32 && !this.isPastEnd && this.read(1) === 0) zeros++;
    return 2 ** zeros - 1 + this.read(zeros);
  }

  /** Reads a signed Exp-Golomb number, se(v) of ITU-T H.264 §9.1.1. */
  readSigned(): number {
    const code = this.readUnsigned();
    return code % 2 === 1 ? (code + 1) / 2 : -code / 2;
  }
}

/** Removes the emulation prevention bytes of a NAL unit (ITU-T H.264 §7.3.1). */
export function unescapeNal(nal: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(nal.length);
  let length = 0;
  let zeros = 0;
  for (const byte of nal) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0;
      continue;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
    bytes[length++] = byte;
  }
  return bytes.subarray(0, length);
}
