/** Cuts a stream of octets into PDUs, by the length at the beginning of each. */
import { HEADER_OCTETS } from './decode.ts';

/** Longest PDU: an optional parameter of 65,535 octets and room for the rest. A longer one is not SMPP. */
export const MAX_PDU_OCTETS = 70_000;
const LENGTH_OCTETS = 4;

export type Frames =
  | { readonly kind: 'frames'; readonly frames: readonly Buffer[] }
  /** The start of the next PDU is unknown. `frames` precede the malformed one. */
  | { readonly kind: 'malformed'; readonly frames: readonly Buffer[]; readonly reason: string };

export class FrameReader {
  #chunks: Buffer[] = [];
  #size = 0;
  /** Number of octets that make the next PDU, or its length, complete. With fewer, nothing is parsed. */
  #needed = LENGTH_OCTETS;

  push(chunk: Buffer): Frames {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const frames: Buffer[] = [];
    if (this.#size < this.#needed) return { kind: 'frames', frames };
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    let at = 0;
    this.#needed = LENGTH_OCTETS;
    while (bytes.length - at >= LENGTH_OCTETS) {
      const length = bytes.readUInt32BE(at);
      if (length < HEADER_OCTETS || length > MAX_PDU_OCTETS)
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
