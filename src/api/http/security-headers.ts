/** What Helmet puts on every answer. None of it depends on the request: it is asked once. docs/decisions/0281 */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

export function securityHeaders(): Readonly<Record<string, string>> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet()(request, response, (error) => {
    if (error !== undefined) throw error;
  });
  return Object.fromEntries(response.getHeaderNames().map((name) => [name, String(response.getHeader(name))]));
}
