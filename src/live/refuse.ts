/** An answer to an edge worker that is a status alone, and is not to be stored. */
import type { ServerResponse } from 'node:http';

export function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'cache-control': 'no-store', ...(status !== 204 && { 'content-length': 0 }) }).end();
}
