/** The bytes of a body that node:http reads, within the bounds of one and of all that are on their way. */
import type { IncomingMessage } from 'node:http';
import { ServiceError } from '#contract/errors/service-error.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import type { HeldBytes } from './held-bytes.ts';

/** Overhead of a received piece, which exceeds the piece itself if a client sends byte by byte. */
const PIECE_BYTES = 256;
/** Retry-After: most bodies in flight are complete long before. */
const TRY_AGAIN_SECONDS = 5;

/** Rejects with what is wrong with it; what is left of it is not read then. */
export function collectBody(message: IncomingMessage, limitBytes: number, held: HeldBytes): Promise<Buffer> {
  const tooLarge = () => new ServiceError('bodyTooLarge', { limit: limitBytes });
  if (Number(message.headers['content-length']) > limitBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let sizeBytes = 0;
    let heldBytes = 0;
    const finish = (error?: Error) => {
      message.off('data', onData).off('end', onEnd).off('error', finish).off('close', onLost);
      held.change(heldBytes, 0);
      if (error === undefined) resolve(ownBytes(pieces));
      else reject(error);
    };
    const onData = (piece: Buffer) => {
      sizeBytes += piece.length;
      if (sizeBytes > limitBytes) return finish(tooLarge());
      const before = heldBytes;
      heldBytes += piece.length + PIECE_BYTES;
      if (!held.change(before, heldBytes))
        return finish(new ServiceError('tooManyRequests', { seconds: TRY_AGAIN_SECONDS }));
      pieces.push(ownBytes([piece])); // which would keep all that was read with it
    };
    const onEnd = () => finish();
    const onLost = () => finish(new ServiceError('bodyNotJson'));
    message.on('data', onData).on('end', onEnd).on('error', finish).on('close', onLost);
    message.resume();
  });
}
