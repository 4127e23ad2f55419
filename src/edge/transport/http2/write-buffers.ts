/**
 * Memory that large writes are put together in, used again when the system has them: the engine would collect all of its memory for
 * every few megabytes that are made anew (a hit of 100 KiB took three times as long).
 */

export interface WriteBuffers {
  /** Returns a buffer of that length; its content is undefined. */
  take(sizeBytes: number): Buffer;
  /** Nobody reads it any more. */
  giveBack(bytes: Buffer): void;
}

/** Smaller ones cost little, and larger ones are rare. */
const MIN_BYTES = 8 * 1024;
/** Half of what is written at once, somewhat more than it with its last frame, and an answer that goes out whole. */
const SIZES = [32 * 1024, 84 * 1024, 144 * 1024] as const;
/** Free buffers of each size, as many as writes may be under way at a moment. More are dropped. */
const MAX_FREE = 16;

export function createWriteBuffers(): WriteBuffers {
  const free = SIZES.map((sizeBytes) => ({ sizeBytes, buffers: [] as ArrayBufferLike[] }));
  return {
    take: (sizeBytes) => {
      const place = sizeBytes < MIN_BYTES ? undefined : free.find((one) => sizeBytes <= one.sizeBytes);
      if (place === undefined) return Buffer.allocUnsafe(sizeBytes);
      const memory = place.buffers.pop() ?? Buffer.allocUnsafeSlow(place.sizeBytes).buffer;
      return Buffer.from(memory, 0, sizeBytes);
    },
    giveBack: ({ buffer }) => {
      const place = free.find(({ sizeBytes }) => buffer.byteLength === sizeBytes);
      if (place !== undefined && place.buffers.length < MAX_FREE) place.buffers.push(buffer);
    },
  };
}
