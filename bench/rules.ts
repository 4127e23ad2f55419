/**
 * What rules cost: hits of 10,000 domains that have 50 entries in each list and 50 policies, all of them their own, against hits of
 * 10,000 domains that have none, by wrk on two edges in turn; and the memory of compiled sites. Needs wrk.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { compileSite } from '#sites/compile.ts';
import { createCompileTools } from '#sites/compile-tools.ts';
import type { PolicySpec, SiteSpec } from '#sites/spec.ts';
import { askFor } from './support/ask-for.ts';
import { fillEdgeStore, plainSite, startEdgeAlone } from './support/edge-alone.ts';
import type { StartedService } from './support/service.ts';

const DOMAINS = 10_000;
const ENTRIES = 50;
const ROUNDS = 9;
const ROUND_SECONDS = 3;
const WARM_SECONDS = 10;
/** Concurrent requests while every domain is requested once, so that none is compiled during the measurement. */
const ASKED_AT_ONCE = 20;
const COMPILED = 1_000;
const PATH = '/images/photo-1.jpg';
const BODY = Buffer.alloc(1024, 'x');

const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
const origin = createServer((_request, response) => {
  response.writeHead(200, { 'cache-control': 'max-age=36000', 'content-length': String(BODY.length) }).end(BODY);
}).listen(0, '127.0.0.1');
await once(origin, 'listening');

try {
  console.log(`a compiled site: ${compiledBytes(bareSite)} bytes without rules, ${compiledBytes(ruledSite)} with all`);
  await using bareEdge = await startWith('bare', bareSite);
  await using ruledEdge = await startWith('ruled', ruledSite);
  for (const edge of [bareEdge, ruledEdge]) {
    await askForEach(edge);
    await measure(edge, WARM_SECONDS);
  }
  const rounds: { readonly bare: Measured; readonly ruled: Measured }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [bare, ruled] = [await measure(bareEdge, ROUND_SECONDS), await measure(ruledEdge, ROUND_SECONDS)];
    rounds.push({ bare, ruled });
    console.log(`round ${round + 1}: ${describe(bare)} without rules, ${describe(ruled)} with all`);
  }
  console.log(`in memory then, MiB: ${bareEdge.memory()} without, ${ruledEdge.memory()} with`);
  const hits = median(rounds.map(({ bare, ruled }) => ruled.perSecond / bare.perSecond));
  const cpu = median(rounds.map(({ bare, ruled }) => bare.cpuMicros / ruled.cpuMicros));
  console.log(
    `with all rules, medians of ${ROUNDS}: ${hits.toFixed(3)} of the hits/s, ${cpu.toFixed(3)} of the hits for a second of the worker's CPU`,
  );
} finally {
  origin.close();
  rmSync(folder, { recursive: true });
}

function startWith(name: string, makeSite: (id: number) => SiteSpec): Promise<StartedService> {
  const dataDir = join(folder, name);
  fillEdgeStore(
    dataDir,
    Array.from({ length: DOMAINS }, (_, index) => makeSite(index + 1)),
  );
  return startEdgeAlone(dataDir, { CAUSEWAY_CACHE_MEMORY: '256MB', CAUSEWAY_CACHE_DISK_SIZE: '0' });
}

function bareSite(id: number): SiteSpec {
  const address = origin.address();
  return plainSite(id, typeof address === 'object' && address !== null ? address.port : 0);
}

/**
 * Nothing on the lists is met, and the policy that decides is the last one, so that all of them are looked at. No domain has an
 * entry, a policy or a pattern of another.
 */
function ruledSite(id: number): SiteSpec {
  const each = <T>(make: (index: number) => T, count = ENTRIES) =>
    Array.from({ length: count }, (_, index) => make(index));
  const policy = (match: PolicySpec['match'], content: string, priority: number): PolicySpec => {
    return { match, content, priority, isCached: true, lifetimeSeconds: 36_000 };
  };
  const [high, low] = [id >> 8, id & 255];
  return {
    ...bareSite(id),
    caching: {
      followsOrigin: false,
      prefixFirst: false,
      policies: [
        ...each((index) => policy('regex', `^/api-${id}/v${index}/[a-z]+/[0-9]+$`, 90), 20),
        ...each((index) => policy('suffix', `a${index}x${id},b${index}x${id}`, 50), 14),
        ...each((index) => policy('prefix', `/folder-${id}-${index}/`, 20), 15),
        policy('prefix', '/', 1),
      ],
    },
    access: {
      deniedAddresses: each((index) =>
        index % 2 === 0 ? `${130 + index}.${high}.${low}.0/24` : `2001:db8:${index}:${id.toString(16)}::/64`,
      ),
      referer: { mode: 'allow', allowsBlank: false, entries: each((index) => `partner-${index}-of-${id}.example.com`) },
      deniedUserAgents: each((index) => (index % 2 === 0 ? `robot-${id}-${index}` : `*crawler-${id}*${index}*`)),
    },
  };
}

async function askForEach({ edgePort }: StartedService): Promise<void> {
  const referer = (id: number) => `https://shop.partner-${ENTRIES - 1}-of-${id}.example.com/`;
  for (let first = 1; first <= DOMAINS; first += ASKED_AT_ONCE) {
    const ids = Array.from({ length: Math.min(ASKED_AT_ONCE, DOMAINS + 1 - first) }, (_, index) => first + index);
    await Promise.all(
      ids.map((id) => askFor(edgePort, `site-${id}.example.com`, { path: PATH, referer: referer(id) })),
    );
  }
}

interface Measured {
  readonly perSecond: number;
  /** Processor time of the worker for a hit: of all its threads, the garbage collector's too. */
  readonly cpuMicros: number;
}

/** Hits over all of its domains, each of one object. */
async function measure(edge: StartedService, seconds: number): Promise<Measured> {
  const script = join(folder, 'hosts.lua');
  writeFileSync(
    script,
    `local n = 0
     request = function()
       n = (n + 7919) % ${DOMAINS}
       return wrk.format("GET", "${PATH}", {
         Host = "site-" .. (1 + n) .. ".example.com",
         Referer = "https://shop.partner-${ENTRIES - 1}-of-" .. (1 + n) .. ".example.com/list?page=1",
         ["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
       })
     end`,
  );
  const args = ['-t1', '-c50', `-d${seconds}s`, '-s', script, `http://127.0.0.1:${edge.edgePort}/`];
  const cpuBefore = edge.cpuMs('edge-worker-1');
  const { stdout } = await promisify(execFile)('wrk', args);
  const cpuMs = edge.cpuMs('edge-worker-1') - cpuBefore;
  if (stdout.includes('Non-2xx')) throw new Error(stdout);
  const hits = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  return { perSecond: Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1]), cpuMicros: (cpuMs * 1000) / hits };
}

function describe({ perSecond, cpuMicros }: Measured): string {
  return `${Math.round(perSecond)} hits/s, ${cpuMicros.toFixed(1)} µs each`;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function compiledBytes(makeSite: (id: number) => SiteSpec): number {
  const specs = Array.from({ length: COMPILED }, (_, index) => JSON.stringify(makeSite(index + 1)));
  const tools = createCompileTools();
  const before = keptBytes();
  const compiled = specs.map((spec) => compileSite(JSON.parse(spec), 1, tools));
  const bytes = (keptBytes() - before) / compiled.length;
  return Math.round(bytes);
}

/** Bytes of the heap and of buffers beside it, after a garbage collection. */
function keptBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
