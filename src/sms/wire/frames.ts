/** Cuts a stream of octets into packets, by the length at the beginning of each. */

export interface FrameLimits {
  /** Shortest and longest packet. Another one is not of the protocol. */
  readonly headerOctets: number;
  readonly maxOctets: number;
}

const LENGTH_OCTETS = 4;

export type Frames =
  | { readonly kind: 'frames'; readonly frames: readonly Buffer[] }
  /** The start of the next packet is unknown. `frames` precede the malformed one. */
  | { readonly kind: 'malformed'; readonly frames: readonly Buffer[]; readonly reason: string };

export class FrameReader {
  readonly #limits: FrameLimits;
  #chunks: Buffer[] = [];
  #size = 0;
  /** Number of octets that make the next packet, or its length, complete. With fewer, nothing is parsed. */
  #needed = LENGTH_OCTETS;

  constructor(limits: FrameLimits) {
    this.#limits = limits;
  }

  push(chunk: Buffer): Frames {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const frames: Buffer[] = [];
    if (this.#size < this.#needed) return { kind: 'frames', frames };
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    const { headerOctets, maxOctets } = this.#limits;
    let at = 0;
    this.#needed = LENGTH_OCTETS;
    while (bytes.length - at >= LENGTH_OCTETS) {
      const length = bytes.readUInt32BE(at);
      if (length < headerOctets || length > maxOctets)
        return { kind: 'malformed', frames, reason: `a PDU of ${length} octets` };
      if (bytes.length - at < length) {
        this.#needed = length;
        break;
      }
      frames.push(bytes.subarray(at, at + length));
      at += length;
    }
    this.#chunks = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#size = bytes.length - at;
    return { kind: 'frames', frames };
  }
}
