/**
 * Writes bytes that are only lent for the call, such as those of a read buffer. They are copied into a buffer that is
 * reused as soon as the system has taken it. docs/decisions/0556
 */
import type { Socket } from 'node:net';
import type { DirectWrite } from './node-internals/direct-write.ts';
import { RecycledBuffers } from './recycled-buffers.ts';

export interface LentWriter {
  /**
   * Writes the Latin-1 text `before`, the bytes, and the Latin-1 text `behind`. `direct`: the direct write of this
   * socket.
   */
  write(socket: Socket, direct: DirectWrite, before: string, bytes: Buffer, behind: string): void;
}

/** Room for a read of 64 KiB and the head before it. */
const PIECE_BYTES = 96 * 1024;
/**
 * Fewer bytes than this that must wait get memory of their own: otherwise a slow client would keep a whole piece for
 * them.
 */
const MIN_WAITING_BYTES = PIECE_BYTES / 4;
/** Free pieces kept for reuse; 6 MiB. */
const MAX_SPARE_PIECES = 64;

export function createLentWriter(): LentWriter {
  const pieces = new RecycledBuffers(PIECE_BYTES, MAX_SPARE_PIECES);
  return {
    write: (socket, direct, before, bytes, behind) => {
      const size = before.length + bytes.length + behind.length;
      const mayBeTaken = socket.writableLength === 0;
      const isRecycled = size <= pieces.sizeBytes && (mayBeTaken || size >= MIN_WAITING_BYTES);
      const piece = isRecycled ? pieces.take() : Buffer.allocUnsafeSlow(size);
      const joined = piece.subarray(0, size);
      joined.write(before, 0, 'latin1');
      joined.set(bytes, before.length);
      joined.write(behind, before.length + bytes.length, 'latin1');
      if (mayBeTaken && direct.tryAll(joined, [])) {
        if (isRecycled) pieces.give(piece);
      } else if (isRecycled) socket.write(joined, (error) => void (error || pieces.give(piece)));
      else socket.write(joined);
    },
  };
}
