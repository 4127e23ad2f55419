/** Asks an edge over HTTP/2, with Node's client. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2';
import type { TestContext } from 'node:test';
import { type FetchOptions, type Received, SITE_HOST } from './edge.ts';
import type { HttpsEdge } from './https-edge.ts';

export interface Http2Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly body: string;
  readonly interim: readonly number[];
  /** `NO_ERROR` (0) when it ended in order. */
  readonly code: number;
}

export function open(t: Pick<TestContext, 'after'>, edge: HttpsEdge): ClientHttp2Session {
  const session = connect(`https://${SITE_HOST}`, {
    ca: edge.authority.ca,
    servername: SITE_HOST,
    lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    port: edge.httpsPort,
    host: '127.0.0.1',
    ...{ strictSingleValueFields: false }, // not among the types
  });
  session.on('error', () => undefined); // shows in the answers
  t.after(() => session.destroy());
  return session;
}

export function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string): ClientHttp2Stream {
  const stream = session.request({ ':authority': SITE_HOST, ...headers }, { endStream: body === undefined });
  stream.on('error', () => undefined); // shows as its code
  if (body !== undefined) stream.end(body);
  return stream;
}

export function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  const chunks: Buffer[] = [];
  const interim: number[] = [];
  let head: Record<string, string> = {};
  let raw: readonly string[] = [];
  stream.on('headers', (headers) => interim.push(Number(headers[':status'])));
  stream.on('response', (headers, _flags, rawHeaders: readonly string[]) => {
    raw = rawHeaders;
    head = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  });
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    stream.on('close', () =>
      resolve({
        status: Number(head[':status'] ?? 0),
        headers: head,
        rawHeaders: raw,
        body: Buffer.concat(chunks).toString('latin1'),
        interim,
        code: stream.rstCode,
      }),
    );
  });
}

/** Fetches as `fetchFrom` does over HTTP/1.1, on a connection of many requests. Names are written in lower case. */
export async function fetchOver(
  session: ClientHttp2Session,
  path: string,
  options: FetchOptions = {},
): Promise<Received> {
  const { method = 'GET', host = SITE_HOST, headers = [], body } = options;
  const pseudo = [':method', method, ':scheme', 'https', ':authority', host, ':path', path];
  const written = headers.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text));
  const stream = session.request([...pseudo, ...written], { endStream: body === undefined });
  stream.on('error', () => undefined); // shows as its code
  if (body !== undefined) stream.end(body);
  const { code, ...answer } = await answerOf(stream);
  return { ...answer, reason: '', isWhole: code === 0 };
}
