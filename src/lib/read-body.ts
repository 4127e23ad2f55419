/** Collects the body of a message of node:http, up to a limit. */
import type { IncomingMessage } from 'node:http';

/** Returns `undefined` if the body is longer. The message is not destroyed then, so that it can still be answered. */
export async function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
