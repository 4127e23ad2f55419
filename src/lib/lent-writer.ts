/**
 * Writes bytes that are lent for the time of a call, as those of a read buffer are. What the system takes at once needs no memory but
 * one piece that all connections of a worker share; what has to wait takes that piece with it. docs/decisions/0556
 */
import type { Socket } from 'node:net';
import type { DirectWrite } from './node-internals/direct-write.ts';

export interface LentWriter {
  /** Writes a text of latin1 characters, the bytes, and another text. `direct`: of this socket. */
  write(socket: Socket, direct: DirectWrite, before: string, bytes: Buffer, behind: string): void;
}

/** A read of 64 KiB, and the head before it. */
const SHARED_BYTES = 128 * 1024;

export function createLentWriter(): LentWriter {
  let shared = Buffer.allocUnsafeSlow(SHARED_BYTES);
  return {
    write: (socket, direct, before, bytes, behind) => {
      const size = before.length + bytes.length + behind.length;
      const mayBeTaken = socket.writableLength === 0 && size <= SHARED_BYTES;
      const joined = mayBeTaken ? shared.subarray(0, size) : Buffer.allocUnsafeSlow(size);
      joined.write(before, 0, 'latin1');
      joined.set(bytes, before.length);
      joined.write(behind, before.length + bytes.length, 'latin1');
      if (mayBeTaken) {
        if (direct.tryAll(joined, [])) return;
        shared = Buffer.allocUnsafeSlow(SHARED_BYTES);
      }
      socket.write(joined);
    },
  };
}
