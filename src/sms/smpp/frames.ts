/** A stream of octets → whole PDUs, by the length that each begins with. */
import { HEADER_OCTETS } from './decode.ts';

/** The longest optional parameter, 65,535 octets, and room for the rest; what says it is longer is not SMPP. */
export const MAX_PDU_OCTETS = 70_000;
const LENGTH_OCTETS = 4;

export type Frames =
  | { readonly kind: 'frames'; readonly frames: readonly Buffer[] }
  /** Where the next PDU begins cannot be told any more. `frames` came before. */
  | { readonly kind: 'malformed'; readonly frames: readonly Buffer[]; readonly reason: string };

export class FrameReader {
  #chunks: Buffer[] = [];
  #size = 0;
  /** Fewer octets than that cannot bring anything new, so they are not looked at. */
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
