/**
 * One large object through an edge, from an origin to a client that are processes of their own: `large-object.ts <MiB>
 * <directory>`. Twice, the second time from the cache. A line of JSON says how much memory the edge took for it.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openStore } from '../../src/edge/store/open.ts';
import { SITE_HOST, startTestEdge } from './edge.ts';

const MIB = 2 ** 20;
const SAMPLE_MS = 20;
const [, , role = '', second = '', third = ''] = process.argv;

if (role === 'origin') {
  const server = createServer(
    (request, response) => void sendObject(response, Number(second), request.url === '/large'),
  );
  server.listen(0, '127.0.0.1', () => tell(portOf(server.address())));
} else if (role === 'client') {
  get({ port: Number(second), host: '127.0.0.1', path: third, headers: { host: SITE_HOST } }, (response) => {
    let bytes = 0;
    let isRight = true;
    response.on('data', (chunk: Buffer) => {
      // Each MiB is filled with its own number.
      if (chunk[0] !== Math.floor(bytes / MIB) % 251) isRight = false;
      bytes += chunk.length;
    });
    response.on('close', () => {
      tell({ bytes, isRight, isWhole: response.complete, cache: response.headers['x-cache'] });
      process.disconnect?.();
    });
  });
} else {
  await measure(Number(role), second);
}

async function measure(mib: number, directory: string): Promise<void> {
  const origin = fork(import.meta.filename, ['origin', String(mib)]);
  const [originPort] = await once(origin, 'message');
  const problems: string[] = [];
  const store = openStore({
    memoryBytes: 64 * MIB,
    directory,
    diskBytes: 16_384 * MIB,
    onProblem: (problem) => problems.push(problem),
  });
  const edge = await startTestEdge({ after: () => undefined }, [Number(originPort)], { store });
  const passes: unknown[] = [];
  // The first, which is not stored, only brings into memory what any stream through the edge takes.
  for (const path of ['/other', '/large', '/large']) {
    const before = process.memoryUsage.rss();
    let most = before;
    const sampler = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, SAMPLE_MS);
    const startedAt = performance.now();
    const client = fork(import.meta.filename, ['client', String(edge.port), path]);
    const [received] = await once(client, 'message');
    clearInterval(sampler);
    const mibPerSecond = Math.round((mib / (performance.now() - startedAt)) * 1_000);
    if (path === '/large')
      passes.push({ ...Object(received), growthMib: Math.round((most - before) / MIB), mibPerSecond });
  }
  console.log(JSON.stringify({ passes, problems }));
  origin.kill();
  await edge.edge.close(0);
  await store[Symbol.asyncDispose]();
}

async function sendObject(response: ServerResponse, mib: number, mayStore: boolean): Promise<void> {
  const caching = mayStore ? 'max-age=3600' : 'no-store';
  response.writeHead(200, { 'content-length': mib * MIB, 'cache-control': caching });
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
