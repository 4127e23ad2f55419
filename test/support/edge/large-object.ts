/**
 * The origin and the client of `passLargeObject`, each a process of its own: `large-object.ts origin`, `large-object.ts client
 * <edge's port> <MiB>`. An object's path is its size; each MiB of it is filled with its own number, which the client checks.
 */
import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SITE_HOST } from './edge.ts';

const MIB = 2 ** 20;
const [, , role = '', edgePort = '', mib = ''] = process.argv;

if (role === 'origin') {
  const server = createServer((request, response) => void sendObject(response, Number(request.url?.slice(1))));
  server.listen(0, '127.0.0.1', () => tell(portOf(server.address())));
} else if (role === 'client') {
  get({ port: Number(edgePort), host: '127.0.0.1', path: `/${mib}`, headers: { host: SITE_HOST } }, (response) => {
    let bytes = 0;
    let isRight = true;
    response.on('data', (chunk: Buffer) => {
      if (chunk[0] !== Math.floor(bytes / MIB) % 251) isRight = false;
      bytes += chunk.length;
    });
    response.on('close', () => {
      tell({ bytes, isRight, isWhole: response.complete, cache: response.headers['x-cache'] });
      process.disconnect?.();
    });
  });
}

async function sendObject(response: ServerResponse, mib: number): Promise<void> {
  response.writeHead(200, { 'content-length': mib * MIB, 'cache-control': 'max-age=3600' });
  for (let i = 0; i < mib && !response.destroyed; i++) {
    if (!response.write(Buffer.alloc(MIB, i % 251))) await once(response, 'drain');
  }
  response.end();
}

function tell(message: object | number): void {
  if (process.send === undefined) throw new Error('this role is started by the program itself');
  process.send(message);
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
