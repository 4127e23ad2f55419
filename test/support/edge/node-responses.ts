/** What node:http, as a client, makes of the bytes of an origin. */
import { type IncomingMessage, request } from 'node:http';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

export interface NodeResponse {
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly string[];
  readonly body: string;
  /** The response was whole before its connection ended. */
  readonly isWholeEarly: boolean;
  readonly isWhole: boolean;
  readonly interims: readonly number[];
  readonly error: string | undefined;
}

/** The bytes arrive in one piece, on a connection of their own, which then ends. */
export async function readByNode(bytes: Buffer, method: 'GET' | 'HEAD'): Promise<NodeResponse> {
  const connection = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const interims: number[] = [];
  let error: string | undefined;
  const note = (cause: NodeJS.ErrnoException) => {
    error ??= cause.code ?? cause.message;
  };
  let response: IncomingMessage | undefined;
  let body = '';
  const client = request({ method, createConnection: () => connection, maxHeaderSize: 32 * 1024 });
  client.maxHeadersCount = 0;
  client.on('error', note);
  client.on('information', ({ statusCode }) => interims.push(statusCode));
  client.on('upgrade', () => note(new Error('upgrade')));
  client.on('response', (message) => {
    response = message;
    message.on('error', note);
    message.on('data', (chunk: Buffer) => {
      body += chunk.toString('latin1');
    });
  });
  client.end();
  await setImmediate();
  connection.push(bytes);
  await setImmediate();
  const isWholeEarly = response?.complete === true;
  connection.push(null);
  await setImmediate();
  const read = {
    status: response?.statusCode ?? 0,
    reason: response?.statusMessage ?? '',
    headers: response?.rawHeaders ?? [],
    body,
    isWholeEarly,
    isWhole: response?.complete === true,
    interims,
    error,
  };
  connection.destroy();
  client.destroy();
  return read;
}
