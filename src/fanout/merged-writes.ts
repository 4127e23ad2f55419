/**
 * Merges encoded messages into one write for many viewers. The offsets of the messages are kept, so that a viewer that
 * joined or skipped in between gets the rest from a message at which a decoder can begin.
 */

/** Consecutive messages in one buffer. */
export interface Block {
  /** Number of the first message; numbers ascend by one. */
  readonly first: number;
  readonly bytes: Buffer;
  /** Offset of each message in `bytes`. */
  readonly offsets: readonly number[];
  readonly starts: readonly Start[];
}

/** A message at which a decoder can begin. */
export interface Start {
  readonly number: number;
  readonly timestampMs: number;
}

export class MergedWrites {
  #first = 0;
  #pieces: Buffer[] = [];
  #offsets: number[] = [];
  #starts: Start[] = [];
  #sizeBytes = 0;

  /** Number of the next message. */
  get next(): number {
    return this.#first + this.#pieces.length;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** `startMs`: timestamp of the message if a decoder can begin at it. */
  add(bytes: Buffer, startMs: number | undefined): void {
    if (startMs !== undefined) this.#starts.push({ number: this.next, timestampMs: startMs });
    this.#offsets.push(this.#sizeBytes);
    this.#pieces.push(bytes);
    this.#sizeBytes += bytes.length;
  }

  /** Returns the messages added since the last call; `undefined` if there are none. */
  take(): Block | undefined {
    const only = this.#pieces[0];
    if (only === undefined) return undefined;
    const bytes = this.#pieces.length === 1 ? only : Buffer.concat(this.#pieces, this.#sizeBytes);
    const block = { first: this.#first, bytes, offsets: this.#offsets, starts: this.#starts };
    this.#first = this.next;
    this.#pieces = [];
    this.#offsets = [];
    this.#starts = [];
    this.#sizeBytes = 0;
    return block;
  }
}

/** Returns the bytes from the message with number `from` on; empty if the block ends before it. */
export function restOf({ first, bytes, offsets }: Block, from: number): Buffer {
  if (from <= first) return bytes;
  return bytes.subarray(offsets[from - first] ?? bytes.length);
}

/** Returns the first start at or after the message with number `from`. */
export function firstStart({ starts }: Block, from: number): Start | undefined {
  return starts.find(({ number }) => number >= from);
}
