/**
 * What a rate limit costs a hit: 1 KiB from the memory of one worker, on two domains that differ in their limit, in
 * turns, by wrk; and what counting costs alone, with as many clients as the table has places. Processor time, not wall.
 * Needs wrk.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ClientRates } from '#edge/client-rates.ts';
import { createCompileTools } from '#sites/compile-tools.ts';
import { SiteLimits } from '#sites/rate-limits.ts';
import { fillEdgeStore, plainSite, startEdgeAlone } from './support/edge-alone.ts';

const PAIRS = 9;
const SECONDS = 2;
const LIMIT = { match: 'prefix', content: '/', requests: 100_000, seconds: 1, burst: 100_000 } as const;
const CLIENTS = 100_000;
const TAKES = 2_000_000;

const NOBODY = { high: 0, low: 0 };

const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
const origin = createServer((_request, response) => {
  response.writeHead(200, { 'cache-control': 'max-age=36000', 'content-length': '1024' }).end(Buffer.alloc(1024, 'x'));
}).listen(0, '127.0.0.1');
await once(origin, 'listening');
const address = origin.address();
const originPort = typeof address === 'object' && address !== null ? address.port : 0;

try {
  const [plain, limited] = [plainSite(1, originPort), { ...plainSite(2, originPort), rateLimits: [LIMIT] }];
  fillEdgeStore(join(folder, 'edge'), [plain, limited]);
  await using service = await startEdgeAlone(join(folder, 'edge'), { CAUSEWAY_CACHE_MEMORY: '1GB' });
  const measure = async (host: string): Promise<number> => {
    const before = service.cpuMs('edge-worker-1');
    const url = `http://127.0.0.1:${service.edgePort}/a`;
    const { stdout } = await promisify(execFile)('wrk', ['-t1', '-c50', `-d${SECONDS}s`, '-H', `Host: ${host}`, url]);
    const cpuMicros = (service.cpuMs('edge-worker-1') - before) * 1000;
    if (stdout.includes('Non-2xx')) throw new Error(`not all were hits: ${stdout}`);
    return cpuMicros / Number(/(\d+) requests in/.exec(stdout)?.[1]);
  };
  const ratios: number[] = [];
  const figures: (readonly [number, number])[] = [];
  for (let pair = -1; pair < PAIRS; pair++) {
    // Whoever comes first changes, or a machine that warms up would favor one.
    const order = pair % 2 === 0 ? [plain.name, limited.name] : [limited.name, plain.name];
    const times = new Map<string, number>();
    for (const name of order) times.set(name, await measure(name));
    const [without, having] = [times.get(plain.name) ?? 0, times.get(limited.name) ?? 0];
    if (pair < 0) continue;
    figures.push([without, having]);
    ratios.push(having / without);
  }
  ratios.sort((a, b) => a - b);
  const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  const [without, having] = [middle(figures.map(([one]) => one)), middle(figures.map(([, other]) => other))];
  console.log(
    `a hit of 1 KiB: ${without.toFixed(2)} µs without a limit, ${having.toFixed(2)} with one; ` +
      `ratios ${ratios.map((ratio) => ratio.toFixed(3)).join(' ')}, median ${middle(ratios).toFixed(3)}, load ${loadavg()[0]?.toFixed(1)}`,
  );
} finally {
  origin.close();
  rmSync(folder, { recursive: true });
}

const rates = new ClientRates({ seed: 'bench', workers: 1, clock: () => 0, tell: () => undefined });
const limit = new SiteLimits(1, [LIMIT], createCompileTools()).find({
  scheme: 'http',
  host: 'a.test',
  keyPath: '/',
  query: '',
});
if (limit === undefined) throw new Error('no limit');
for (const [what, clients] of [
  ['one client', 1],
  [`${CLIENTS} clients`, CLIENTS],
] as const) {
  const addresses = Array.from({ length: clients }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  const known = addresses.map(rates.clientOf);
  const passes: number[] = [];
  for (let pass = 0; pass < 5; pass++) {
    const { user, system } = process.cpuUsage();
    for (let i = 0; i < TAKES; i++) rates.take(limit, known[(i * 7919) % clients] ?? NOBODY, pass * 1000 + i / 2000);
    const after = process.cpuUsage();
    passes.push(((after.user + after.system - user - system) * 1000) / TAKES);
  }
  passes.sort((a, b) => a - b);
  console.log(`counting alone, ${what}: ${passes.map((each) => each.toFixed(0)).join(' ')} ns`);
}
