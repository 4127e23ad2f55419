/**
 * A customer's origin for tests, on a real socket: `startOrigin` answers through node:http, `startRawOrigin` writes
 * whatever bytes a test wants. Both record what reached them.
 */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

type Cleanup = Pick<TestContext, 'after'>;

export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  /** Lower-case names; several lines joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** SNI of the connection, over TLS. */
  readonly serverName: string | undefined;
}

export type Answer = (request: SeenRequest, response: ServerResponse) => void;

export interface ScriptedOrigin {
  readonly port: number;
  /** Complete requests, in order of arrival. */
  readonly requests: SeenRequest[];
  /** Connections accepted so far. */
  readonly connections: () => number;
  /** Replaces the script. */
  answer(script: Answer): void;
  /** Closes the listener and cuts every connection. */
  stop(): Promise<void>;
}

export interface OriginOptions {
  readonly host?: string;
  /** A free one when absent. */
  readonly port?: number;
  /** Listens with TLS. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

export async function startOrigin(t: Cleanup, script: Answer, options: OriginOptions = {}): Promise<ScriptedOrigin> {
  let answer = script;
  const requests: SeenRequest[] = [];
  const listener: RequestListener = async (message, response) => {
    try {
      const seen = await readRequest(message);
      requests.push(seen);
      answer(seen, response);
    } catch {
      message.destroy(); // the edge cut the request short: there is nobody to answer
    }
  };
  const server = options.tls === undefined ? createServer(listener) : createSecureServer(options.tls, listener);
  const { port, connections, stop } = await listen(t, server, options);
  const replace = (next: Answer) => {
    answer = next;
  };
  return { port, requests, connections, answer: replace, stop };
}

/** Answers with a body, status 200 unless told. `headers` are sent as written. */
export function reply(
  body: string | Buffer,
  headers: Readonly<Record<string, string | string[]>> = {},
  status = 200,
): Answer {
  const bytes = Buffer.from(body);
  return (_request, response) => {
    response.writeHead(status, { 'content-length': String(bytes.length), ...headers });
    response.end(bytes);
  };
}

/** Header fields of a response that is fresh for a minute. */
export const FRESH = { 'cache-control': 'max-age=60' } as const;

/** Answers 304 with these header fields. */
export function notModified(headers: Readonly<Record<string, string>> = {}): Answer {
  return (_request, response) => void response.writeHead(304, headers).end();
}

/** An answer that is held back until `release` is called. */
export function hold(answer: Answer): { readonly answer: Answer; readonly release: () => void } {
  const released = Promise.withResolvers<void>();
  return {
    answer: (request, response) => void released.promise.then(() => answer(request, response)),
    release: released.resolve,
  };
}

export interface RawOrigin {
  readonly port: number;
  /** Everything up to the empty line, per request. */
  readonly heads: string[];
  readonly connections: () => number;
  stop(): Promise<void>;
}

/** `respond` is called with each request's head; request bodies are not understood. */
export async function startRawOrigin(
  t: Cleanup,
  respond: (socket: Socket, head: string, count: number) => void,
): Promise<RawOrigin> {
  const heads: string[] = [];
  const server = createTcpServer((socket) => {
    let pending = '';
    socket.on('error', () => undefined); // cut by the edge, or by the script itself
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1');
      for (let end = pending.indexOf('\r\n\r\n'); end !== -1; end = pending.indexOf('\r\n\r\n')) {
        const head = pending.slice(0, end);
        pending = pending.slice(end + 4);
        heads.push(head);
        respond(socket, head, heads.length);
      }
    });
  });
  const { port, connections, stop } = await listen(t, server);
  return { port, heads, connections, stop };
}

async function listen(t: Cleanup, server: Server, { host = '127.0.0.1', port: wanted = 0 }: OriginOptions = {}) {
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted++;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(wanted, host);
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
  const { port } = addressOf(server);
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  t.after(stop);
  return { port, connections: () => accepted, stop };
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on TCP');
  return address;
}

async function readRequest(message: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  const headers: Record<string, string> = {};
  for (let i = 0; i < message.rawHeaders.length; i += 2) {
    const name = (message.rawHeaders[i] ?? '').toLowerCase();
    const value = message.rawHeaders[i + 1] ?? '';
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return {
    method: message.method ?? '',
    target: message.url ?? '',
    rawHeaders: message.rawHeaders,
    headers,
    body: Buffer.concat(chunks).toString('latin1'),
    serverName: 'servername' in message.socket ? String(message.socket.servername) : undefined,
  };
}
