/** Requests to a fleet listener on a connection of their own. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { ConnectionOptions } from 'node:tls';

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
}

interface Ask {
  readonly path?: string;
  readonly method?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `identity`: absent for a client without a certificate. Rejects if the connection is cut. */
export async function ask(
  control: string,
  identity: { readonly tls: () => ConnectionOptions; readonly fields?: Readonly<Record<string, string>> } | undefined,
  { path = '/edge/v1/test', method = 'GET', body, headers = {} }: Ask = {},
): Promise<Answer> {
  const { hostname, port } = new URL(control);
  const outgoing = request({
    ...(identity?.tls() ?? { rejectUnauthorized: false }),
    host: hostname,
    port,
    path,
    method,
    agent: false,
    headers: { ...identity?.fields, ...headers },
  });
  outgoing.end(body);
  // `as`: what the event `response` of a client request carries.
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const { statusCode = 0 } = response;
  return { status: statusCode, text: Buffer.concat(chunks).toString('utf8').trim(), headers: response.headers };
}
