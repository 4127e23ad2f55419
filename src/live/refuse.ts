/** Answers an edge worker with a status alone, not to be stored. */
import type { ServerResponse } from 'node:http';

export function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'cache-control': 'no-store', ...(status !== 204 && { 'content-length': 0 }) }).end();
}
