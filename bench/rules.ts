/**
 * What rules cost: hits of 10,000 domains that have 50 entries in each list and 50 policies, against hits of 10,000 domains that
 * have none, by wrk on two edges in turn; and the memory of compiled sites. Needs wrk.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compileSite } from '#sites/compile.ts';
import type { PolicySpec, SiteSpec } from '#sites/spec.ts';
import { fillEdgeStore, plainSite, startEdgeAlone } from './support/edge-alone.ts';
import type { StartedService } from './support/service.ts';

const DOMAINS = 10_000;
const ENTRIES = 50;
const ROUNDS = 5;
const ROUND_SECONDS = 5;
/** All of them are asked for, so that none is compiled while it is measured. */
const WARM_SECONDS = 30;
const COMPILED = 5_000;
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
  for (const edge of [bareEdge, ruledEdge]) await measure(edge, WARM_SECONDS);
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [bare, ruled] = [await measure(bareEdge, ROUND_SECONDS), await measure(ruledEdge, ROUND_SECONDS)];
    ratios.push(ruled / bare);
    console.log(`round ${round + 1}: ${Math.round(bare)} hits/s without rules, ${Math.round(ruled)} with all`);
  }
  console.log(`in memory then, MiB: ${bareEdge.memory()} without, ${ruledEdge.memory()} with`);
  ratios.sort((a, b) => a - b);
  console.log(
    `with all rules: ${(ratios[Math.floor(ROUNDS / 2)] ?? 0).toFixed(3)} of the hits without, the median of ${ROUNDS}`,
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

/** Nothing on the lists is met, and the policy that decides is the last one, so that all of them are looked at. */
function ruledSite(id: number): SiteSpec {
  const each = <T>(make: (index: number) => T, count = ENTRIES) =>
    Array.from({ length: count }, (_, index) => make(index));
  const policy = (match: PolicySpec['match'], content: string, priority: number): PolicySpec => {
    return { match, content, priority, isCached: true, lifetimeSeconds: 36_000 };
  };
  return {
    ...bareSite(id),
    caching: {
      followsOrigin: false,
      prefixFirst: false,
      policies: [
        ...each((index) => policy('regex', `^/api/v${index}/[a-z]+/[0-9]+$`, 90), 20),
        ...each((index) => policy('suffix', `a${index},b${index}`, 50), 14),
        ...each((index) => policy('prefix', `/folder-${index}/`, 20), 15),
        policy('prefix', '/', 1),
      ],
    },
    access: {
      deniedAddresses: each((index) => (index % 2 === 0 ? `198.51.${index}.0/24` : `2001:db8:${index}::/48`)),
      referer: { mode: 'allow', allowsBlank: false, entries: each((index) => `partner-${index}.example.com`) },
      deniedUserAgents: each((index) => (index % 2 === 0 ? `robot-${index}` : `*crawler*${index}*`)),
    },
  };
}

/** Requests a second, over all of its domains, each for one object. */
async function measure({ edgePort }: StartedService, seconds: number): Promise<number> {
  const script = join(folder, 'hosts.lua');
  writeFileSync(
    script,
    `local n = 0
     request = function()
       n = (n + 7919) % ${DOMAINS}
       return wrk.format("GET", "/images/photo-1.jpg", {
         Host = "site-" .. (1 + n) .. ".example.com",
         Referer = "https://shop.partner-${ENTRIES - 1}.example.com/list?page=1",
         ["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
       })
     end`,
  );
  const args = ['-t1', '-c50', `-d${seconds}s`, '-s', script, `http://127.0.0.1:${edgePort}/`];
  const { stdout } = await promisify(execFile)('wrk', args);
  if (stdout.includes('Non-2xx')) throw new Error(stdout);
  return Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1]);
}

function compiledBytes(makeSite: (id: number) => SiteSpec): number {
  const specs = Array.from({ length: COMPILED }, (_, index) => JSON.stringify(makeSite(index + 1)));
  const before = residentBytes();
  const compiled = specs.map((spec) => compileSite(JSON.parse(spec), 1));
  const bytes = (residentBytes() - before) / compiled.length;
  return Math.round(bytes);
}

/** Of the heap alone, after what is not needed has been given back where the engine lets us ask for it. */
function residentBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
