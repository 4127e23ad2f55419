/** The messages of a GOP cache in one encoding, in few large pieces that all viewers share. */
import type { Encoding } from './encoding.ts';
import type { GopCache } from './gop-cache.ts';

/** Size of the writes to a joining viewer. */
const PIECE_BYTES = 64 * 1024;

export class EncodedGop {
  readonly #gop: GopCache;
  #generation: number;
  #pieces: Buffer[] = [];
  #tail: Buffer[] = [];
  #tailBytes = 0;

  constructor(gop: GopCache, encoding: Encoding) {
    this.#gop = gop;
    this.#generation = gop.generation;
    for (const message of gop.messages) this.#add(encoding.encode(message));
  }

  /** Follows the cache. Must be called for each message added to it, whether the cache kept the message or not. */
  follow(bytes: Buffer): void {
    if (this.#generation !== this.#gop.generation) {
      this.#generation = this.#gop.generation;
      this.#pieces = [];
      this.#tail = [];
      this.#tailBytes = 0;
    }
    if (this.#gop.hasKeptLast) this.#add(bytes);
  }

  pieces(): readonly Buffer[] {
    return this.#tail.length === 0 ? this.#pieces : [...this.#pieces, Buffer.concat(this.#tail, this.#tailBytes)];
  }

  #add(bytes: Buffer): void {
    this.#tail.push(bytes);
    this.#tailBytes += bytes.length;
    if (this.#tailBytes < PIECE_BYTES) return;
    this.#pieces.push(Buffer.concat(this.#tail, this.#tailBytes));
    this.#tail = [];
    this.#tailBytes = 0;
  }
}
