/** Sends the edge's requests to control. Silence of the connection fails the request. */
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { FEED_HEADER, FEED_VERSIONS, formatVersions } from '../wire/versions.ts';
import type { ControlLink } from './control-link.ts';

export interface FeedRequestOptions {
  readonly link: ControlLink;
  readonly path: string;
  readonly signal: AbortSignal;
  /** Time without a byte after which the connection is dead. */
  readonly silenceMs: number;
  /** Body of a POST, a text as JSON; absent for a GET. */
  readonly body?: string | Uint8Array;
  /** Further header fields. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the request needs a connection of its own, because its answer does not end. */
  readonly isStream?: boolean;
}

/** Bytes of a refusal's body that are read. */
const MAX_REASON_BYTES = 1000;

export class FeedRefusal extends Error {
  readonly status: number;
  readonly reason: string;
  /** The value of `Retry-After`; absent without one. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, path: string, reason: string, retryAfterMs?: number) {
    super(`control answered ${status} to ${path}: ${reason}`);
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Resolves with the response's head if its status is 2xx; the caller reads or destroys the body. Rejects otherwise,
 * with `FeedRefusal` if there is a response.
 */
export async function requestFeed(options: FeedRequestOptions): Promise<IncomingMessage> {
  const { link, path, signal, silenceMs, body, headers, isStream = false } = options;
  const { outgoing, noteFailure } = link.open(
    {
      path,
      signal,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        [FEED_HEADER]: formatVersions(FEED_VERSIONS),
        ...headers,
        ...(body !== undefined && {
          'content-type': typeof body === 'string' ? 'application/json' : 'application/octet-stream',
          'content-length': Buffer.byteLength(body),
        }),
      },
    },
    isStream,
  );
  outgoing.setTimeout(silenceMs, () => outgoing.destroy(new Error(`control sent nothing for ${silenceMs} ms`)));
  outgoing.end(body);
  const response = await headOf(outgoing);
  if (response instanceof Error) {
    // Control may have ended an idle connection at the same moment. All requests can be repeated.
    if (outgoing.reusedSocket && !signal.aborted) return await requestFeed(options);
    if (!signal.aborted) noteFailure();
    throw response;
  }
  outgoing.on('error', (error) => response.destroy(error));
  response.on('error', () => undefined); // the body's reader gets it, too, if there is one yet
  const { statusCode = 0 } = response;
  if (statusCode >= 200 && statusCode < 300) return response;
  if (statusCode === 503) noteFailure(); // crowded, or without its database: another control may serve
  throw new FeedRefusal(statusCode, path, await readReason(response), retryAfterOf(response));
}

/** Returns the error if there is no answer. */
async function headOf(outgoing: ClientRequest): Promise<IncomingMessage | Error> {
  try {
    // `as`: what the event `response` of a client request carries.
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    return response;
  } catch (error) {
    return error instanceof Error ? error : new Error('no answer', { cause: error });
  }
}

function retryAfterOf({ headers }: IncomingMessage): number | undefined {
  const seconds = headers['retry-after'];
  return seconds !== undefined && /^\d{1,5}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
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
