/**
 * What is left of a request's body that nobody wants, read and dropped before the answer: a connection that is closed
 * with unread bytes is reset, and its client would lose the answer (RFC 9112 §9.6).
 */
import type { IncomingMessage } from 'node:http';

/** Bytes read after the answer; a client that sends more, or more slowly, may lose the answer. */
const MAX_DRAIN_BYTES = 8 * 2 ** 20;
const MAX_DRAIN_MS = 2000;

/** Never rejects. `false`: not all of it was read, so the connection is of no further use. */
export async function drain(message: IncomingMessage): Promise<boolean> {
  const { headers } = message;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody || message.readableEnded) return true;
  if (message.destroyed) return false;
  return await new Promise((resolve) => {
    let sizeBytes = 0;
    const finish = (isDrained: boolean) => {
      clearTimeout(timer);
      message.off('data', onData).off('end', onEnd).off('error', onLost).off('close', onLost);
      message.on('error', () => undefined); // there is no reader any more
      resolve(isDrained);
    };
    const onEnd = () => finish(true);
    const onLost = () => finish(false);
    const onData = (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_DRAIN_BYTES) finish(false);
    };
    const timer = setTimeout(onLost, MAX_DRAIN_MS);
    message.on('data', onData).on('end', onEnd).on('error', onLost).on('close', onLost);
    message.resume();
  });
}
