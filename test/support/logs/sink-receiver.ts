/** A receiver of sinks: an HTTP server that answers as it is told, and keeps what it accepts. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';

export interface SinkAnswerScript {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Resolves when the answer is to be sent. */
  readonly after?: Promise<unknown>;
}

export interface ReceivedPost {
  readonly key: string;
  readonly headers: Readonly<IncomingMessage['headers']>;
  readonly records: readonly Readonly<Record<string, unknown>>[];
  readonly at: number;
}

export interface SinkReceiver extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** All posts, and those that were answered with 2xx. */
  readonly posts: ReceivedPost[];
  readonly accepted: ReceivedPost[];
  answer: (post: ReceivedPost) => SinkAnswerScript;
}

const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** `port` 0: any. */
export async function startSinkReceiver(port = 0): Promise<SinkReceiver> {
  const receiver = { posts: [] as ReceivedPost[], accepted: [] as ReceivedPost[], answer: () => ({ status: 200 }) };
  const server = createServer((request, response) => {
    void take(receiver, request, response).catch(() => response.destroy());
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return Object.assign(receiver as Omit<SinkReceiver, 'url' | 'port' | typeof Symbol.asyncDispose>, {
    url: `http://127.0.0.1:${address.port}/ingest`,
    port: address.port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

async function take(
  receiver: Pick<SinkReceiver, 'posts' | 'accepted' | 'answer'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = gunzipSync(Buffer.concat(chunks), { maxOutputLength: MAX_BODY_BYTES }).toString();
  const records = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  const post = { key: String(request.headers['idempotency-key']), headers: request.headers, records, at: Date.now() };
  receiver.posts.push(post);
  const { status, headers, after } = receiver.answer(post);
  await after;
  if (status < 300) receiver.accepted.push(post);
  response.writeHead(status, headers).end();
}
