/** Requests a stream from one origin: HTTP-FLV over a connection that the guard allowed. */
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';

export interface OriginPlace {
  /** `host:port` */
  readonly key: string;
  readonly host: string;
  readonly port: number;
  /** Whether `host` is an IP literal. */
  readonly isAddress: boolean;
  /** Server name for TLS; empty: TLS without one; `undefined`: no TLS. */
  readonly serverName: string | undefined;
  readonly hostHeader: string;
}

/** Opens a connection to an origin unless the guard refuses the address. Never rejects. */
export type ConnectOrigin = (
  place: OriginPlace,
) => Promise<
  | { readonly kind: 'connected'; readonly socket: Socket }
  | { readonly kind: 'failed'; readonly isTimeout: boolean; readonly detail: string }
>;

export type OpenedOrigin =
  /** Destroying the body closes the connection. */
  | { readonly kind: 'stream'; readonly body: IncomingMessage }
  /** The response has a length, so it is an ordinary file. */
  | { readonly kind: 'file' }
  | { readonly kind: 'notFound' }
  | { readonly kind: 'failed'; readonly isTimeout: boolean; readonly detail: string };

export interface PullRequest {
  readonly place: OriginPlace;
  readonly path: string;
  readonly connect: ConnectOrigin;
  /** An origin fails if it sends no byte for this long, before or within its response. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
}

/** Resolves when the response's headers have arrived. Never rejects. */
export async function openOriginStream({
  place,
  path,
  connect,
  silenceMs,
  signal,
}: PullRequest): Promise<OpenedOrigin> {
  const connected = await connect(place);
  if (connected.kind === 'failed') return connected;
  const { socket } = connected;
  const { promise, resolve } = Promise.withResolvers<OpenedOrigin>();
  let isSilent = false;
  const asked = request({
    createConnection: () => socket,
    setHost: false,
    headers: { Host: place.hostHeader, Accept: '*/*', Connection: 'close' },
    path,
    signal,
  });
  socket.setTimeout(silenceMs, () => {
    isSilent = true;
    socket.destroy(new Error(`silent for ${silenceMs} ms`));
  });
  asked.on('response', (answer) => resolve(judge(answer, place)));
  asked.on('error', (error) =>
    resolve({ kind: 'failed', isTimeout: isSilent, detail: `${place.key}: ${error.message}` }),
  );
  asked.end();
  return await promise;
}

function judge(answer: IncomingMessage, { key }: OriginPlace): OpenedOrigin {
  answer.on('error', () => undefined); // the reader of the body gets the error
  const { statusCode = 0, headers } = answer;
  if (statusCode === 200 && headers['content-length'] === undefined) return { kind: 'stream', body: answer };
  answer.destroy();
  if (statusCode === 200) return { kind: 'file' };
  if (statusCode === 404) return { kind: 'notFound' };
  return { kind: 'failed', isTimeout: false, detail: `${key} answers ${statusCode}` };
}
