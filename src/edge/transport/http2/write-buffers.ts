/**
 * Buffers for large writes, reused when the system has taken them. Without reuse, the engine would collect the whole
 * heap after every few megabytes (a hit of 100 KiB took three times as long).
 */

export interface WriteBuffers {
  /** Returns a buffer of that length; its content is undefined. */
  take(sizeBytes: number): Buffer;
  /** Returns a buffer. It must not be used afterwards. */
  giveBack(bytes: Buffer): void;
}

/** Smaller buffers are not reused: they cost little. */
const MIN_BYTES = 8 * 1024;
/** Sizes for half a write, for a full write with its last frame, and for a whole large answer. */
const SIZES = [32 * 1024, 84 * 1024, 144 * 1024] as const;
/** Free buffers kept of each size, as many as there are writes at a moment. */
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
