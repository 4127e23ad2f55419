/**
 * What the access log costs: hits of small objects with the log and without, by wrk on two edges in turn, which have rules as in
 * `hits`; and ten million lines from a spool through splitting and gzip to where they are handed over, in time and memory. Needs wrk and two cores: the edges get
 * the first. `-- logs hits` or `-- logs lines`: one of the two.
 */
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLocalTime } from '#lib/local-time.ts';
import { createLogger } from '#lib/logger.ts';
import { type AccessRecord, formatLine } from '#logs/line.ts';
import { formatPart } from '#logs/report.ts';
import { collect } from '#logs/ship/collect.ts';
import { openOutbox } from '#logs/ship/outbox.ts';
import { shipLog } from '#logs/ship/ship.ts';
import { openSpool } from '#logs/spool.ts';
import { fillEdgeStore, startEdgeAlone } from './support/edge-alone.ts';
import { ruledSites } from './support/same-work.ts';
import type { StartedService } from './support/service.ts';

const ROUNDS = 7;
const ROUND_SECONDS = 4;
/** `atOnce`: requests that a connection sends in one go: with one, wrk's core is the bound; with more, the worker's. */
const CASES = [
  { objects: 1_000, atOnce: 1 },
  { objects: 1_000, atOnce: 4 },
  { objects: 1, atOnce: 1 },
  { objects: 1, atOnce: 4 },
] as const;
const DOMAINS_ASKED = 100;
const LINES = Number(process.env['BENCH_LINES'] ?? 10_000_000);
const DOMAINS = 1_000;
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
try {
  const only = process.argv[3];
  if (only !== 'lines') await compareHits();
  if (only !== 'hits') await shipLines();
} finally {
  rmSync(folder, { recursive: true });
}

type Case = (typeof CASES)[number];

interface Measured {
  readonly perSecond: number;
  readonly cpuMicros: number;
  /** Share of a core, 0 to 1. */
  readonly used: number;
}

async function compareHits(): Promise<void> {
  const body = Buffer.alloc(1024, 'x');
  const origin = createServer((_request, response) => {
    response.writeHead(200, { 'cache-control': 'max-age=36000', 'content-length': String(body.length) }).end(body);
  }).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const address = origin.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const start = (name: string, accessLog: string) => {
    fillEdgeStore(join(folder, name), ruledSites(port));
    return startEdgeAlone(join(folder, name), { CAUSEWAY_ACCESS_LOG: accessLog, CAUSEWAY_CACHE_DISK_SIZE: '0' });
  };
  execFileSync('taskset', ['-cp', '0', String(process.pid)]); // and so everything that is started from here
  await using without = await start('off', 'off');
  await using withLog = await start('on', 'on');
  for (const one of CASES) {
    for (const edge of [without, withLog]) for (let n = 0; n < 2; n++) await measure(edge, one); // fills the cache, then what is kept of it
    const rounds: { readonly off: Measured; readonly on: Measured }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      rounds.push({ off: await measure(without, one), on: await measure(withLog, one) });
    }
    showHits(one, rounds);
  }
  origin.close();
}

function showHits(
  { objects, atOnce }: Case,
  rounds: readonly { readonly off: Measured; readonly on: Measured }[],
): void {
  const hits = median(rounds.map(({ off, on }) => on.perSecond / off.perSecond));
  const cpu = median(rounds.map(({ off, on }) => off.cpuMicros / on.cpuMicros));
  const of = (kind: 'off' | 'on', name: keyof Measured) => median(rounds.map((round) => round[kind][name]));
  const show = (kind: 'off' | 'on') =>
    `${of(kind, 'cpuMicros').toFixed(2)} µs, ${Math.round(of(kind, 'perSecond'))} a second, ${Math.round(of(kind, 'used') * 100)} % of the core`;
  console.log(
    `with the log, ${objects} objects, ${atOnce} at once, medians of ${ROUNDS}: ${hits.toFixed(3)} of the hits/s, ${cpu.toFixed(3)} of the hits for a second of the worker's CPU (without ${show('off')}; with ${show('on')}), load ${loadavg()[0]?.toFixed(1)}`,
  );
}

async function measure(edge: StartedService, { objects, atOnce }: Case): Promise<Measured> {
  const script = join(folder, 'requests.lua');
  writeFileSync(
    script,
    `local requests = {}
     local n = 0
     init = function()
       local one = {}
       for i = 0, ${objects - 1} do
         one[i] = wrk.format("GET", "/images/photo-" .. i .. ".jpg?v=1", {
           Host = "site-" .. (1 + i % ${DOMAINS_ASKED}) .. ".example.com",
           Referer = "https://www.example.org/list?page=1", ["User-Agent"] = "${AGENT}"
         })
       end
       for i = 0, ${objects - 1} do
         requests[i] = ""
         for k = 0, ${atOnce - 1} do requests[i] = requests[i] .. one[(i + k * 619) % ${objects}] end
       end
     end
     request = function()
       n = (n + ${619 * atOnce}) % ${objects}
       return requests[n]
     end`,
  );
  const cpuBefore = edge.cpuMs('edge-worker-1');
  const args = ['-c', '1', 'wrk', '-t1', '-c50', `-d${ROUND_SECONDS}s`, '-s', script];
  const { stdout } = await promisify(execFile)('taskset', [...args, `http://127.0.0.1:${edge.edgePort}`]);
  const cpuMs = edge.cpuMs('edge-worker-1') - cpuBefore;
  if (stdout.includes('Non-2xx')) throw new Error(stdout);
  const hits = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  const perSecond = Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1]);
  return { perSecond, cpuMicros: (cpuMs * 1000) / hits, used: cpuMs / (ROUND_SECONDS * 1000) };
}

async function shipLines(): Promise<void> {
  const directory = join(folder, 'logs');
  const zone = createLocalTime('Asia/Shanghai');
  const log = createLogger({ level: 'silent', name: 'bench' });
  const spool = openSpool({
    directory,
    name: 'worker-1',
    format: (id, record) => `${id}\t${formatLine(record, zone)}`,
    maxQueueBytes: 64 * 1024 * 1024,
    keepBytes: Number.MAX_SAFE_INTEGER,
    zone,
    clock: Date.now,
    log,
  });
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 100);
  const writing = begin();
  for (let n = 0; n < LINES; n++) {
    spool.write(1 + (n % DOMAINS), recordOf(n));
    if (n % 20_000 === 0) await spool.flush();
  }
  await spool.close();
  const files = readdirSync(directory).filter((file) => file.endsWith('.log'));
  const bytes = files.reduce((sum, file) => sum + statSync(join(directory, file)).size, 0);
  console.log(`${LINES} lines written, ${mebibytes(bytes)} MiB in ${files.length} files: ${writing()}`);
  const counting = begin();
  using outbox = openOutbox({
    file: join(folder, 'outbox.db'),
    edge: 'bench',
    onLost: () => undefined,
    onMoved: () => undefined,
  });
  const stems = await collect(directory, outbox, [], new Set());
  outbox.makeReports();
  console.log(`journals read and reports made: ${counting()}`);
  most = process.memoryUsage.rss();
  const shipping = begin();
  let parts = 0;
  let sent = 0;
  for (const stem of stems) {
    await shipLog(directory, stem, 'bench', {
      send: async (some) => {
        parts += some.length;
        for (const part of some) sent += formatPart(part).length;
      },
      beforeDeletion: async () => undefined,
    });
  }
  clearInterval(timer);
  console.log(
    `split, gzipped and handed over as ${parts} parts, ${mebibytes(sent)} MiB: ${shipping()}; at most ${mebibytes(most)} MiB of memory`,
  );
}

function recordOf(n: number): AccessRecord {
  return {
    clientAddress: `203.0.${n % 113}.${n % 251}`,
    endedAt: Date.now(),
    durationMs: n % 40,
    requestBytes: 412,
    responseBytes: 1_000 + (n % 20_000),
    host: `site-${1 + (n % DOMAINS)}.example.com`,
    method: 'GET',
    target: `/images/photo-${n % 5_003}.jpg?v=${n % 7}`,
    httpVersion: '1.1',
    cacheCode: n % 20 === 0 ? 'TCP_MISS' : 'TCP_MEM_HIT',
    status: 200,
    contentType: 'image/jpeg',
    referer: `https://www.example.org/list?page=${n % 97}`,
    userAgent: AGENT,
  };
}

/** Gives how long it was, and how much CPU time of this process. */
function begin(): () => string {
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return `${((performance.now() - startedAt) / 1000).toFixed(1)} s, ${((user + system) / 1e6).toFixed(1)} s of CPU`;
  };
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
