/**
 * Misses, one worker against nginx as a cache with the same work: what the cache may not keep, URLs that nobody asked for before,
 * and a tail of a million URLs with room for a tenth. In turns; the origin is an nginx too. Beside the processor time of each answer:
 * how long hits of another viewer take meanwhile, at full rate and at half the rate that the worker can do, the longest turn
 * of the worker's event loop, and how many objects the disk was too slow for. Needs wrk, h2load, nginx, openssl, and two cores: the
 * servers get the first, the origin and the viewers the second.
 * `npm run bench -- misses`, or with names of cases, `tls` (HTTP/1.1 over TLS) or `h2` (HTTP/2).
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../test/support/free-port.ts';
import { makeCertificate } from './support/certificate.ts';
import { fillEdgeStore, plainSite, startEdgeAlone } from './support/edge-alone.ts';
import { type Figure, medians, type Rival, showFigure, showRatios } from './support/figures.ts';
import { HTTP2_HOST, type LoadResult, runLoad, TLS_HOST, type Urls, type Viewers } from './support/miss-load.ts';
import { type MissOrigin, openMissOrigin } from './support/miss-origin.ts';
import { formatMs, percentiles } from './support/percentiles.ts';
import { openNginxCache, ruledSites } from './support/same-work.ts';
import { askSteadily } from './support/steady-load.ts';

const ROUNDS = 5;
const ROUND_SECONDS = 3;
/** The engine compiles for some 15 s, and the cache is full by then: later rounds cost the same. For both servers. */
const WARM_SECONDS = 15;
const TAIL_WARM_SECONDS = 30;
const SMALL_BYTES = 1024;
const LARGE_BYTES = 100 * 1024;
const TAIL_URLS = 1_000_000;
/** What a file takes on the disk at least. */
const FILE_BYTES = 4096;
const CACHE_BYTES = 1024 ** 3;
const BYSTANDER_PER_SECOND = 100;

interface Case {
  readonly name: string;
  readonly bodyBytes: number;
  readonly urls: 'few' | 'new' | 'zipf';
  readonly cacheBytes: number;
}

const CASES: readonly Case[] = [
  { name: 'no-store-1k', bodyBytes: SMALL_BYTES, urls: 'few', cacheBytes: CACHE_BYTES },
  { name: 'no-store-100k', bodyBytes: LARGE_BYTES, urls: 'few', cacheBytes: CACHE_BYTES },
  { name: 'new-1k', bodyBytes: SMALL_BYTES, urls: 'new', cacheBytes: CACHE_BYTES },
  { name: 'new-100k', bodyBytes: LARGE_BYTES, urls: 'new', cacheBytes: CACHE_BYTES },
  { name: 'tail', bodyBytes: SMALL_BYTES, urls: 'zipf', cacheBytes: (TAIL_URLS * FILE_BYTES) / 10 },
];

interface MissRival extends Rival, AsyncDisposable {
  readonly name: string;
  /** Port for the bystander, plain HTTP. */
  readonly plainPort: number;
  /** What happened since the last call; empty where it cannot be known. */
  takeNotes(): Promise<string>;
}

const words = process.argv.slice(3);
const viewers: Viewers = words.includes('h2') ? 'h2' : words.includes('tls') ? 'tls' : 'http';
const names = words.filter((word) => word !== viewers);
const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
chmodSync(folder, 0o755); // nginx's worker is another user
let serial = 0;

pin(1);
try {
  await using origin = await openMissOrigin(folder, [SMALL_BYTES, LARGE_BYTES]);
  const pair = makeCertificate(folder, [TLS_HOST, '*.example.com']);
  for (const one of CASES.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const home = mkdtempSync(join(folder, `${one.name}-`));
    pin(0);
    await using nginx = await openNginx(home, origin.port, one.cacheBytes);
    await using edge = await openEdge(home, origin.port, one.cacheBytes, pair);
    pin(1);
    await compare(one, origin, [nginx, edge]);
  }
} finally {
  rmSync(folder, { recursive: true });
}

async function compare(one: Case, origin: MissOrigin, rivals: readonly [MissRival, MissRival]): Promise<void> {
  for (const rival of rivals)
    await measure(one, rival, { seconds: one.urls === 'zipf' ? TAIL_WARM_SECONDS : WARM_SECONDS });
  const [theirs, ours] = rivals.map((): Round[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    theirs?.push(await measureRound(one, origin, rivals[0], {}));
    ours?.push(await measureRound(one, origin, rivals[1], {}));
  }
  const [their, our] = [medians(theirs ?? []), medians(ours ?? [])];
  console.log(
    `${one.name}, ${viewers}: ${showRatios(our, their, 'nginx')} (${showFigure(our)} against ${showFigure(their)}), load ${loadavg()[0]?.toFixed(1)}`,
  );
  const perSecond = our.perSecond / 2;
  for (const [rival, rounds] of [[rivals[0], theirs] as const, [rivals[1], ours] as const]) {
    showRounds(`${rival.name}, full rate`, rounds ?? []);
    showRounds(`${rival.name}, ${Math.round(perSecond)}/s`, [await measureRound(one, origin, rival, { perSecond })]);
  }
}

interface Round extends Figure {
  readonly latenciesMs: readonly number[];
  readonly notes: string;
  /** Part of the answers for which the origin was asked. */
  readonly missShare: number;
}

interface Pace {
  readonly perSecond?: number;
  readonly seconds?: number;
}

async function measureRound(one: Case, origin: MissOrigin, rival: MissRival, pace: Pace): Promise<Round> {
  await rival.takeNotes();
  const asked = await origin.requests();
  const bystander = askSteadily({
    port: rival.plainPort,
    hosts: [HTTP2_HOST],
    seconds: ROUND_SECONDS,
    perSecond: BYSTANDER_PER_SECOND,
    bodyBytes: SMALL_BYTES,
  });
  const cpuBefore = rival.cpuMs();
  const { answers, perSecond } = await measure(one, rival, pace);
  const cpuMicros = ((rival.cpuMs() - cpuBefore) * 1000) / answers;
  const missShare = ((await origin.requests()) - asked - 1) / answers;
  const { latenciesMs, failed } = await bystander;
  if (failed > 0) console.warn(`${rival.name}: ${failed} hits failed`);
  return { perSecond, cpuMicros, latenciesMs, missShare, notes: await rival.takeNotes() };
}

function measure(one: Case, { port }: MissRival, { perSecond, seconds = ROUND_SECONDS }: Pace): Promise<LoadResult> {
  return runLoad({ folder, viewers, port, urls: urlsOf(one), seconds, perSecond });
}

function urlsOf({ bodyBytes, urls }: Case): Urls {
  if (urls === 'few') return { kind: 'few', prefix: `/no-store/${bodyBytes}/` };
  if (urls === 'zipf') return { kind: 'zipf', prefix: `/fresh/${bodyBytes}/`, count: TAIL_URLS, seed: serial++ };
  return { kind: 'new', prefix: `/fresh/${bodyBytes}/${serial++}-` };
}

function showRounds(what: string, rounds: readonly Round[]): void {
  const { cpuMicros } = medians(rounds);
  const latencies = formatMs(percentiles(rounds.flatMap(({ latenciesMs }) => latenciesMs)));
  const missed = Math.round((rounds.reduce((sum, { missShare }) => sum + missShare, 0) / rounds.length) * 100);
  const notes = rounds.map((round) => round.notes).filter((text) => text !== '');
  console.log(`  ${what}: ${cpuMicros.toFixed(1)} µs, ${missed} % missed; hits of another: ${latencies}`);
  if (notes.length > 0) console.log(`    ${notes.join('; ')}`);
}

async function openNginx(home: string, originPort: number, cacheBytes: number): Promise<MissRival> {
  const port = await freePort();
  const plainPort = viewers === 'http' ? port : await freePort();
  const tls = viewers === 'http' ? {} : { certificateIn: folder, plainPort };
  const nginx = await openNginxCache({ folder: home, port, originPort, cacheBytes, ...tls });
  return { ...nginx, plainPort, takeNotes: async () => '' };
}

async function openEdge(
  home: string,
  originPort: number,
  cacheBytes: number,
  pair: ReturnType<typeof makeCertificate>,
): Promise<MissRival> {
  const dataDir = join(home, 'edge');
  const sites = [...ruledSites(originPort), { ...plainSite(20_000, originPort), name: TLS_HOST }];
  const tlsPort = await freePort();
  fillEdgeStore(
    dataDir,
    viewers === 'http' ? sites : sites.map((site) => ({ ...site, tls: { certificate: 'c' } })),
    new Map([['c', pair]]),
  );
  const service = await startEdgeAlone(dataDir, {
    CAUSEWAY_CACHE_DISK_SIZE: `${cacheBytes}`,
    ...(viewers === 'http' ? {} : { CAUSEWAY_EDGE_HTTPS_LISTEN: `127.0.0.1:${tlsPort}` }),
  });
  let skippedBefore = 0;
  return {
    name: 'causeway',
    port: viewers === 'http' ? service.edgePort : tlsPort,
    plainPort: service.edgePort,
    cpuMs: () => service.cpuMs('edge-worker-1'),
    takeNotes: async () => {
      const text = await (await fetch(service.metricsUrl)).text();
      const skipped = sumOf(text, /^causeway_edge_store_problems_total\{.*problem="store/);
      const before = skippedBefore;
      skippedBefore = skipped;
      const turnMs = sumOf(text, /^nodejs_eventloop_lag_max_seconds\{process="edge-worker-1"/) * 1000;
      const mib = Math.round(service.memoryMib('edge-worker-1'));
      return `${skipped - before} not stored, longest turn ${turnMs.toFixed(1)} ms, ${mib} MiB`;
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** Sum of the samples whose line begins so. */
function sumOf(text: string, start: RegExp): number {
  const lines = text.split('\n').filter((line) => start.test(line));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** The processes and threads that are started from here on run on this core. */
function pin(core: 0 | 1): void {
  execFileSync('taskset', ['-cp', String(core), String(process.pid)]);
}
