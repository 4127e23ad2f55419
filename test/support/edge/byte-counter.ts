/** Stands between clients and an edge, and counts the bytes that pass: what clients received, by another's count than ours. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import type { TestContext } from 'node:test';

export interface ByteCounter {
  readonly port: number;
  readonly toClients: number;
  readonly toEdge: number;
}

export async function startByteCounter(t: Pick<TestContext, 'after'>, edgePort: number): Promise<ByteCounter> {
  const counted = { port: 0, toClients: 0, toEdge: 0 };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const edge = connect({ port: edgePort, host: '127.0.0.1', allowHalfOpen: true });
    client.on('data', (chunk: Buffer) => {
      counted.toEdge += chunk.length;
      edge.write(chunk);
    });
    edge.on('data', (chunk: Buffer) => {
      counted.toClients += chunk.length;
      client.write(chunk);
    });
    // A client that leaves leaves the edge; what the edge had sent until then still arrives here and counts.
    client.on('end', () => edge.end()).on('error', () => edge.end());
    edge.on('end', () => client.end()).on('error', () => client.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  // `as`: a TCP server that listens has such an address.
  counted.port = (server.address() as AddressInfo).port;
  return counted;
}
