/**
 * One worker against nginx as a cache with the same work (`support/same-work.ts`), in turns, by h2load: TLS handshakes, hits over TLS
 * with HTTP/1.1 and HTTP/2. With HTTP/1.1 Node's own `https` is beside, which does nothing but answer. Beside the rate stands what the
 * server's processor spent on each, which other work on the machine changes less. Needs h2load (nghttp2-client), nginx, openssl, and
 * two cores: the servers get the first. `npm run bench -- tls handshakes`: the cases whose names begin so.
 */
import { execFile, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { makeCertificate } from './support/certificate.ts';
import { fillEdgeStore, startEdgeAlone } from './support/edge-alone.ts';
import { type Figure, medians, type Rival, showFigure, showRatios } from './support/figures.ts';
import { openNginxCache, ruledSites } from './support/same-work.ts';
import { cpuMsOf } from './support/service.ts';

const ONLY = process.argv[3] ?? '';
const ROUNDS = 5;
const ROUND_SECONDS = 3;
const WARM_SECONDS = 1;
const HOST = 'site-1.example.com';
const SMALL = Buffer.alloc(1024, 'x');
const LARGE = Buffer.alloc(100 * 1024, 'x');

interface Case {
  readonly name: string;
  readonly path: string;
  readonly load: readonly string[];
}

const HITS = ['-D', String(ROUND_SECONDS), '--warm-up-time', String(WARM_SECONDS)];
/** Fewer than an edge's connection carries: h2load opens no other. */
const FEW_CONNECTIONS = ['-c', '5', '-m', '10', '-n', '40000'];
/** Each on a connection of its own. */
const HANDSHAKES = 2000;
const CASES: readonly Case[] = [
  { name: 'handshakes', path: '/small', load: ['--h1', '-n', String(HANDSHAKES), '-c', String(HANDSHAKES), '-m', '1'] },
  { name: 'HTTP/1.1, 1 KiB, 50 connections', path: '/small', load: ['--h1', '-c', '50', ...HITS] },
  { name: 'HTTP/1.1, 100 KiB, 50 connections', path: '/large', load: ['--h1', '-c', '50', ...HITS] },
  { name: 'HTTP/2, 1 KiB, 5 connections of 10 streams', path: '/small', load: FEW_CONNECTIONS },
  { name: 'HTTP/2, 1 KiB, 50 connections of 1 stream', path: '/small', load: ['-c', '50', '-m', '1', ...HITS] },
  { name: 'HTTP/2, 100 KiB, 5 connections of 10 streams', path: '/large', load: FEW_CONNECTIONS },
];

interface NamedRival extends Rival, AsyncDisposable {
  readonly name: string;
}

execFileSync('taskset', ['-cp', '0', String(process.pid)]); // and so everything that is started from here
const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
const pair = makeCertificate(folder, [HOST]);

const origin = createServer(({ url }, response) => {
  const body = url === '/small' ? SMALL : LARGE;
  response.writeHead(200, { 'cache-control': 'max-age=36000', 'content-length': String(body.length) }).end(body);
}).listen(0, '127.0.0.1');
await once(origin, 'listening');
const address = origin.address();
const originPort = typeof address === 'object' && address !== null ? address.port : 0;

try {
  await using nginx = await openNginxCache({ folder, port: await freePort(), originPort, certificateIn: folder });
  await using node = await openNodeHttps();
  await using edge = await openEdge(originPort);
  console.log(execFileSync('h2load', ['--version'], { encoding: 'utf8' }).trim());
  for (const one of CASES.filter(({ name }) => name.startsWith(ONLY)))
    await compare(one, nginx, one.load.includes('--h1') ? [node, edge] : [edge]);
} finally {
  origin.close();
  rmSync(folder, { recursive: true });
}

async function compare(one: Case, nginx: NamedRival, others: readonly NamedRival[]): Promise<void> {
  const figures = new Map([nginx, ...others].map((rival): [NamedRival, Figure[]] => [rival, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [rival, its] of figures) its.push(...(await measure(one, rival)));
  const their = medians(figures.get(nginx) ?? []);
  console.log(`${one.name}: nginx ${showFigure(their)}, load ${loadavg()[0]?.toFixed(1)}`);
  for (const rival of others) {
    const its = medians(figures.get(rival) ?? []);
    console.log(`  ${rival.name} ${showRatios(its, their, 'nginx')} (${showFigure(its)})`);
  }
}

/** One figure, or none where requests failed: what those cost would be counted as the cost of the others. */
async function measure({ path, load }: Case, { name, port, cpuMs }: NamedRival): Promise<Figure[]> {
  const url = `https://${HOST}:${port}${path}`;
  const args = ['-c', '1', 'h2load', ...load, `--connect-to=127.0.0.1:${port}`, url];
  const [cpuBefore, startedAt] = [cpuMs(), performance.now()];
  const { stdout } = await promisify(execFile)('taskset', args, { encoding: 'utf8' });
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuMicros = (cpuMs() - cpuBefore) * 1000;
  const good = Number(/(\d+) 2xx/.exec(stdout)?.[1]);
  if (!/ 0 failed, 0 errored, 0 timeout/.test(stdout)) {
    console.warn(`${name}: a round that does not count: ${/^requests:.*$/m.exec(stdout)?.[0]}`);
    return [];
  }
  const isTimed = load.includes('-D');
  const perSecond = good / (isTimed ? ROUND_SECONDS : seconds);
  // While it warms up it is not counted by h2load, and yet served.
  return [{ perSecond, cpuMicros: cpuMicros / (isTimed ? perSecond * (ROUND_SECONDS + WARM_SECONDS) : good) }];
}

async function openEdge(originPort: number): Promise<NamedRival> {
  const dataDir = join(folder, 'edge');
  const sites = ruledSites(originPort).map((site) => ({ ...site, tls: { certificate: 'c' } }));
  fillEdgeStore(dataDir, sites, new Map([['c', pair]]));
  const port = await freePort();
  const service = await startEdgeAlone(dataDir, { CAUSEWAY_EDGE_HTTPS_LISTEN: `127.0.0.1:${port}` });
  return {
    name: 'causeway',
    port,
    cpuMs: () => service.cpuMs('edge-worker-1'),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

async function openNodeHttps(): Promise<NamedRival> {
  const port = await freePort();
  const child = fork(join(import.meta.dirname, 'support', 'node-https.ts'), [folder, String(port)]);
  await once(child, 'message');
  return {
    name: 'node:https',
    port,
    cpuMs: () => cpuMsOf(String(child.pid)),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
