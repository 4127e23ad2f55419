/** Requests of edge workers and of a successor: their bodies, and answers with a status alone. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers with a status alone, not to be stored. */
export function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'cache-control': 'no-store', ...(status !== 204 && { 'content-length': 0 }) }).end();
}

/** Reads a body; `undefined` if it is longer than `maxBytes`. */
export async function readRequestText(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    const chunk: Buffer = piece; // no encoding is set
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    pieces.push(chunk);
  }
  return Buffer.concat(pieces).toString('utf8');
}
