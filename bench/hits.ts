/**
 * Hits over plain HTTP, one worker against nginx as a cache with the same work: 1,000 objects over 100 of 10,000 domains, lists of
 * addresses, Referers and User-Agents, one log line each. By wrk, in turns; beside the rate stands what the server's processor spent on
 * each. Needs wrk, nginx, and two cores: the servers get the first. Arguments: names of cases, for some of them.
 */
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { fillEdgeStore, startEdgeAlone } from './support/edge-alone.ts';
import { type Figure, medians, type Rival, showFigure, showRatios } from './support/figures.ts';
import { openNginxCache, ruledSites } from './support/same-work.ts';

const ROUNDS = 5;
const ROUND_SECONDS = 3;
const OBJECTS = 1_000;
const DOMAINS_ASKED = 100;
const TAG = '"1"';
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

interface Case {
  readonly name: string;
  readonly bodyBytes: number;
  readonly connections: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Fewer, where a thousand would take more memory than a cache is given here. */
  readonly objects?: number;
}

const KIB = 1024;
const CASES: readonly Case[] = [
  { name: '1k', bodyBytes: KIB, connections: 50 },
  { name: '1k-1000', bodyBytes: KIB, connections: 1_000 },
  { name: '10k', bodyBytes: 10 * KIB, connections: 50 },
  { name: '100k', bodyBytes: 100 * KIB, connections: 50 },
  { name: '1m', bodyBytes: KIB * KIB, connections: 20, objects: 100 },
  { name: '304', bodyBytes: KIB, connections: 50, headers: { 'If-None-Match': TAG } },
];

execFileSync('taskset', ['-cp', '0', String(process.pid)]); // and so everything that is started from here
const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
const origin = createServer((request, response) => {
  const bytes = Number(/^\/(\d+)\//.exec(request.url ?? '')?.[1]);
  const headers = { 'cache-control': 'max-age=36000', 'content-type': 'image/jpeg', etag: TAG };
  response.writeHead(200, { ...headers, 'content-length': String(bytes) }).end(Buffer.alloc(bytes, 'x'));
}).listen(0, '127.0.0.1');
await once(origin, 'listening');
const address = origin.address();
const originPort = typeof address === 'object' && address !== null ? address.port : 0;

try {
  await using nginx = await openNginxCache({ folder, port: await freePort(), originPort });
  fillEdgeStore(join(folder, 'edge'), ruledSites(originPort));
  await using service = await startEdgeAlone(join(folder, 'edge'), { CAUSEWAY_CACHE_MEMORY: '1GB' });
  const edge = { port: service.edgePort, cpuMs: () => service.cpuMs('edge-worker-1') };
  const names = process.argv.slice(3);
  for (const one of CASES.filter(({ name }) => names.length === 0 || names.includes(name)))
    await compare(one, nginx, edge);
} finally {
  origin.close();
  rmSync(folder, { recursive: true });
}

async function compare(one: Case, nginx: Rival, edge: Rival): Promise<void> {
  const theirs: Figure[] = [];
  const ours: Figure[] = [];
  // The first fills the caches, the second what is kept of them.
  for (let round = -2; round < ROUNDS; round++) {
    const [their, our] = [await measure(one, nginx), await measure(one, edge)];
    if (round < 0) continue;
    theirs.push(their);
    ours.push(our);
  }
  const [their, our] = [medians(theirs), medians(ours)];
  console.log(
    `${one.name}: ${showRatios(our, their, 'nginx')} (${showFigure(our)} against ${showFigure(their)}), load ${loadavg()[0]?.toFixed(1)}`,
  );
}

async function measure(
  { bodyBytes, connections, headers = {}, objects = OBJECTS }: Case,
  { port, cpuMs }: Rival,
): Promise<Figure> {
  const script = join(folder, 'objects.lua');
  const fields = Object.entries({ Referer: 'https://www.example.org/list?page=1', 'User-Agent': AGENT, ...headers });
  writeFileSync(
    script,
    `local n = 0
     request = function()
       n = (n + 619) % ${objects}
       return wrk.format("GET", "/${bodyBytes}/" .. n .. ".jpg", {
         Host = "site-" .. (1 + n % ${DOMAINS_ASKED}) .. ".example.com",
         ${fields.map(([name, value]) => `["${name}"] = '${value}'`).join(', ')}
       })
     end`,
  );
  const args = ['-c', '1', 'wrk', '-t1', `-c${connections}`, `-d${ROUND_SECONDS}s`, '-s', script];
  const before = cpuMs();
  const { stdout } = await promisify(execFile)('taskset', [...args, `http://127.0.0.1:${port}/`]);
  const cpuMicros = (cpuMs() - before) * 1000;
  const answers = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  const failed = /Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? '0';
  if (failed !== '0' || stdout.includes('Socket errors')) console.warn(stdout);
  return { perSecond: Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1]), cpuMicros: cpuMicros / answers };
}
