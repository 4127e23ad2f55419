/** Posts a message of the edge to control. */
import type { IncomingHttpHeaders } from 'node:http';
import { STATUS_MS } from '../wire/protocol.ts';
import type { ControlLink } from './control-link.ts';
import { requestFeed } from './feed-request.ts';

/** Returns the fields of the answer. */
export async function postMessage(
  link: ControlLink,
  path: string,
  message: object,
  signal: AbortSignal,
): Promise<IncomingHttpHeaders> {
  const response = await requestFeed({ link, path, signal, silenceMs: STATUS_MS, body: JSON.stringify(message) });
  response.resume();
  return response.headers;
}
