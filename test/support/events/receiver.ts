/** A receiver of webhooks: a real HTTP server that answers as it is told and keeps what it got. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Cleanup } from '../temporary.ts';

export interface PostedEvent {
  readonly event: string;
  readonly event_id: string;
  readonly severity: string;
  readonly account_id: string;
  readonly target: { readonly kind: string; readonly id: string; readonly name: string };
  readonly data: Readonly<Record<string, string | number>>;
  readonly text: string;
}

export interface Posted {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly event: PostedEvent;
}

export interface Receiver {
  readonly url: string;
  /** Everything that came, in order; what was sent again comes again. */
  readonly posted: readonly Posted[];
  /** Names of the kinds that were accepted, each event once. */
  accepted(): readonly string[];
  /** Answers from now on; absent: 204. */
  answerWith(answer: ((response: ServerResponse) => void) | undefined): void;
}

export async function startReceiver(t: Cleanup): Promise<Receiver> {
  const posted: Posted[] = [];
  const accepted = new Map<string, string>();
  let answer: ((response: ServerResponse) => void) | undefined;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const event = JSON.parse(body) as PostedEvent; // `as`: compared by the tests
    posted.push({ headers: request.headers, body, event });
    if (answer !== undefined) return answer(response);
    accepted.set(event.event_id, event.event);
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/events`,
    posted,
    accepted: () => [...accepted.values()],
    answerWith(next) {
      answer = next;
    },
  };
}

/** Whether the signature is that of the body by the secret. */
export function isSigned({ headers, body }: Posted, secret: string): boolean {
  const [, at = '', signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-causeway-signature'])) ?? [];
  return signature === createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
}
