/** Single requests to an authority: over TLS only, bounded in time and size, never redirected. */
import { Agent } from 'undici';

export interface HttpAnswer {
  readonly status: number;
  /** Returns a header field by its lower-case name; `undefined` if it is absent or repeated. */
  header(name: string): string | undefined;
  readonly body: string;
}

interface HttpQuestion {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly url: string;
  readonly body?: string;
}

/** Sends a request. Rejects without a complete answer. */
export type AskHttp = (question: HttpQuestion, signal: AbortSignal) => Promise<HttpAnswer>;

export interface AcmeHttps extends AsyncDisposable {
  readonly ask: AskHttp;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Limit for the head of the answer, and between two pieces of its body. */
const ANSWER_TIMEOUT_MS = 20_000;
/** Limit of an answer; a certificate chain has a few KB. */
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_CONNECTIONS = 8;

/** `ca`: PEM of the authorities that may sign its certificate; absent: those of the system. */
export function createHttps(userAgent: string, ca?: string): AcmeHttps {
  const agent = new Agent({
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    connect: { timeout: CONNECT_TIMEOUT_MS, ...(ca !== undefined && { ca }) },
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
    maxResponseSize: MAX_ANSWER_BYTES,
  });
  return {
    async ask({ method, url, body }, signal) {
      const { protocol, origin, pathname, search } = new URL(url);
      if (protocol !== 'https:') throw new Error(`certificate authorities must be reached over https, not at ${url}`);
      // RFC 8555 §6.1, §6.2
      const headers = {
        'user-agent': userAgent,
        ...(body !== undefined && { 'content-type': 'application/jose+json' }),
      };
      const path = pathname + search;
      const answer = await agent.request({ origin, path, method, headers, body: body ?? null, signal });
      const fields = answer.headers;
      return {
        status: answer.statusCode,
        header: (name) => {
          const field = fields[name];
          return typeof field === 'string' ? field : undefined;
        },
        body: await answer.body.text(),
      };
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}
