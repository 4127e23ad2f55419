/** Sends the edge's requests to control over its unix socket. Silence of the connection fails the request. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

export interface RequestOptions {
  readonly socketPath: string;
  readonly path: string;
  readonly signal: AbortSignal;
  /** Time without a byte after which the connection is dead. */
  readonly silenceMs: number;
  /** Body of a POST, a text as JSON; absent for a GET. */
  readonly body?: string | Uint8Array;
}

/** Bytes of a refusal's body that are read. */
const MAX_REASON_BYTES = 1000;

export class FeedRefusal extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, path: string, reason: string) {
    super(`control answered ${status} to ${path}: ${reason}`);
    this.status = status;
    this.reason = reason;
  }
}

/**
 * Resolves with the response's head if its status is 2xx; the caller reads or destroys the body. Rejects otherwise,
 * with `FeedRefusal` if there is a response.
 */
export async function requestFeed(options: RequestOptions): Promise<IncomingMessage> {
  const { socketPath, path, signal, silenceMs, body } = options;
  const outgoing = request({
    socketPath,
    path,
    signal,
    agent: false,
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && {
      headers: {
        'content-type': typeof body === 'string' ? 'application/json' : 'application/octet-stream',
        'content-length': Buffer.byteLength(body),
      },
    }),
  });
  outgoing.setTimeout(silenceMs, () => outgoing.destroy(new Error(`control sent nothing for ${silenceMs} ms`)));
  outgoing.end(body);
  // `as`: what the event `response` of a client request carries.
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  outgoing.on('error', (error) => response.destroy(error));
  response.on('error', () => undefined); // the body's reader gets it, too, if there is one yet
  const { statusCode = 0 } = response;
  if (statusCode >= 200 && statusCode < 300) return response;
  throw new FeedRefusal(statusCode, path, await readReason(response));
}

/** Reads the reason of a refusal, and destroys the body. */
async function readReason(response: IncomingMessage): Promise<string> {
  let reason = '';
  for await (const chunk of response.setEncoding('utf8')) {
    reason += chunk;
    if (reason.length > MAX_REASON_BYTES) break;
  }
  return reason.slice(0, MAX_REASON_BYTES).trim();
}
