/**
 * Posts to webhooks and sinks over the edge's guarded connections: no name that a customer sets can lead it into this
 * machine's network.
 */
import { Agent } from 'undici';
import { ConnectError, createConnector } from '#edge/origin/connector.ts';
import { createGuard, type GuardOptions } from '#edge/origin/guard.ts';
import { createResolver } from '#edge/origin/resolve.ts';
import { parseDate } from '#http/dates.ts';
import { steadyClock, systemClock } from '#lib/clock.ts';
import { MAX_SHOWN_ANSWER } from '#model/webhook.ts';
import type { WebhookAnswer, WebhookPost } from '#webhooks/webhook-post.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** Limit from the request to the head of the answer, and between two pieces of its body. */
const ANSWER_TIMEOUT_MS = 10_000;
/** Limit for the whole exchange. */
const TOTAL_TIMEOUT_MS = 15_000;
/** Connections per address, as many as there are posts: receivers of several customers may be at one address. */
const MAX_CONNECTIONS = 64;
const MAX_ADDRESSES = 1_000;
/** Bytes read of an answer, of which only the status counts. With more of them the connection is ended. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Bytes of it that the owner of the webhook may be shown. */
const SHOWN_BYTES = MAX_SHOWN_ANSWER * 4;

/** A post whose body may be bytes, as webhooks and sinks have it. */
type Post = (
  post: Omit<WebhookPost, 'body'> & { readonly body: string | Uint8Array },
  signal: AbortSignal,
) => Promise<WebhookAnswer & { readonly retryAfterMs?: number }>;

export interface WebhookSender extends AsyncDisposable {
  readonly post: Post;
}

/** Networks of receivers that operators name: mostly private ones. */
export const ANYWHERE: readonly string[] = ['0.0.0.0/0', '::/0'];

export function createWebhookSender(guard: GuardOptions): WebhookSender {
  const agent = createAgent(guard);
  const post: Post = async ({ url, headers, body }, signal) => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TOTAL_TIMEOUT_MS)]);
    try {
      const { protocol, origin, pathname, search, username, password } = new URL(url);
      const isPlain = (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
      if (!isPlain) return { kind: 'failed', reason: 'url' };
      const answer = await agent.request({
        origin,
        path: pathname + search,
        method: 'POST',
        headers,
        body,
        signal: limit,
      });
      const beginning = await readBeginning(answer.body);
      // A redirect is not followed; like any status other than 2xx, it is a failure.
      const retryAfterMs = readRetryAfter(answer.headers['retry-after'], systemClock());
      return {
        ...{ kind: 'answered', status: answer.statusCode, body: beginning },
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      };
    } catch (error) {
      return { kind: 'failed', reason: reasonOf(error) };
    }
  };
  return { post, [Symbol.asyncDispose]: () => agent.destroy() };
}

/** Reads seconds or a date. RFC 9110 §10.2.3 */
function readRetryAfter(field: string | string[] | undefined, now: number): number | undefined {
  if (typeof field !== 'string') return undefined;
  if (/^\d{1,9}$/.test(field)) return Number(field) * 1000;
  const at = parseDate(field, now);
  return at === undefined ? undefined : Math.max(0, at - now);
}

/** Returns the beginning of the body, as far as it arrives. */
async function readBeginning(body: AsyncIterable<Buffer>): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  try {
    for await (const chunk of body) {
      if (bytes < SHOWN_BYTES) text += decoder.decode(chunk.subarray(0, SHOWN_BYTES - bytes), { stream: true });
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) break;
    }
  } catch {
    // It ends early, or the time is over; the status counts all the same.
  }
  return text.slice(0, MAX_SHOWN_ANSWER).toWellFormed();
}

/** Returns the IP address in a URL if nothing may be posted to it. Names are checked when something is posted. */
export function createRefusedAddress(options: GuardOptions): (url: string) => string | undefined {
  const guard = createGuard(options);
  return (url) => {
    const { host, port, isAddress } = destinationOf(new URL(url));
    return isAddress && !guard.permits(host, port) ? host : undefined;
  };
}

function createAgent(guard: GuardOptions): Agent {
  const connect = createConnector({
    guard: createGuard(guard),
    resolve: createResolver({ monotonic: steadyClock }),
    timeoutMs: CONNECT_TIMEOUT_MS,
    verify: 'always',
  });
  return new Agent({
    connections: MAX_CONNECTIONS,
    maxOrigins: MAX_ADDRESSES,
    pipelining: 1,
    allowH2: false,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
    connect: (to, callback) => {
      connect(destinationOf(to)).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    },
  });
}

function destinationOf({ hostname, port, protocol }: { hostname: string; port: string; protocol: string }) {
  const host = hostname.replace(/^\[|\]$/g, '');
  const isAddress = /^[\d.]+$/.test(host) || host.includes(':');
  const isSecure = protocol === 'https:';
  return {
    host,
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
    isAddress,
    serverName: isSecure ? (isAddress ? '' : host) : undefined,
  };
}

/** Returns one word for the log and the list of deliveries, without any content of the answer. */
function reasonOf(error: unknown): string {
  if (error instanceof ConnectError) return error.failure;
  if (error instanceof DOMException) return 'timeout';
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && code !== '' ? code : 'malformed';
}
