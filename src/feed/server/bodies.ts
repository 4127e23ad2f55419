/**
 * Reads bodies of requests. Those of edges on other machines share a bounded amount of memory, of which one edge gets a
 * part only. docs/decisions/0574
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Peer } from '../publish/peer.ts';
import { CrowdedError } from './crowded-error.ts';

export interface BodyLimits {
  /** Bytes of all bodies that are read or processed. */
  readonly totalBytes: number;
  /** The same of one edge: more than the longest body. */
  readonly edgeBytes: number;
}

const LIMITS: BodyLimits = { totalBytes: 256 * 2 ** 20, edgeBytes: 128 * 2 ** 20 };

/** Returns `undefined` if the body is longer than `maxBytes`. Throws `CrowdedError`. */
export type ReadBody = (
  request: IncomingMessage,
  response: ServerResponse,
  options: { readonly maxBytes: number; readonly peer: Peer | undefined },
) => Promise<Buffer | undefined>;

export function createBodyReader({ totalBytes, edgeBytes }: BodyLimits = LIMITS): ReadBody {
  let held = 0;
  const heldBy = new Map<string, number>();
  const hold = (bytes: number, edge: string) => {
    const own = (heldBy.get(edge) ?? 0) + bytes;
    held += bytes;
    if (own > 0) heldBy.set(edge, own);
    else heldBy.delete(edge);
    return held <= totalBytes && own <= edgeBytes;
  };
  return async (request, response, { maxBytes, peer }) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    // The bytes count until the answer is sent.
    if (peer !== undefined) response.once('close', () => hold(-bytes, peer.edge));
    // Not destroyed at an early stop, because the refusal is sent on the same connection.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      if (bytes + chunk.length > maxBytes) return undefined;
      if (response.closed) throw new Error('the connection is closed');
      bytes += chunk.length;
      if (peer !== undefined && !hold(chunk.length, peer.edge))
        throw new CrowdedError('too much is being received; send it again later');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  };
}
