/**
 * Writes bytes that are lent for the time of a call, as those of a read buffer are. They are copied into a piece of memory, which is
 * used for the next write as soon as the system has taken all of it. docs/decisions/0556
 */
import type { Socket } from 'node:net';
import type { DirectWrite } from './node-internals/direct-write.ts';
import { RecycledBuffers } from './recycled-buffers.ts';

export interface LentWriter {
  /** Writes a text of latin1 characters, the bytes, and another text. `direct`: of this socket. */
  write(socket: Socket, direct: DirectWrite, before: string, bytes: Buffer, behind: string): void;
}

/** A read of 64 KiB, and the head before it. */
const PIECE_BYTES = 96 * 1024;
/** Fewer bytes that have to wait get memory of their own: a slow client would keep a whole piece for them. */
const MIN_WAITING_BYTES = PIECE_BYTES / 4;
/** Pieces of slow clients that have been taken; 6 MiB. */
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
