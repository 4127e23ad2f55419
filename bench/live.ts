/**
 * Live streams beside nginx's RTMP module and node-media-server, in turns: what 100, 500 and 1,000 viewers of one stream cost,
 * 300 viewers of low-latency HLS, 40 publishers, the first key frame, the memory of viewers and streams, how far behind players
 * are, and how soon a forbidden stream is cut. nginx's viewers play RTMP, which is all it has. Needs ffmpeg, libnginx-mod-rtmp, npm, and two cores: the servers get the first.
 * `npm run bench -- live viewers`: the cases whose names begin so; a number behind it: so many rounds.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { measureForbid } from './support/live-forbid.ts';
import { measureLatency } from './support/live-latency.ts';
import { startLoad, type ViewerLoad } from './support/live-load.ts';
import { HOST, type LiveRival, openCauseway, openNginxRtmp, openNodeMediaServer } from './support/live-rivals.ts';
import { makeSource, publish } from './support/live-source.ts';
import { formatMs, percentiles } from './support/percentiles.ts';

const ONLY = process.argv[3] ?? '';
const ROUNDS = Number(process.argv[4] ?? 3);
/** Node compiles what is used often during the first seconds; a service runs for days. */
const WARM_MS = 10_000;
/** A hundred viewers call little each second: compiling goes on for half a minute, and costs as much as they do. */
const VIEWERS_WARM_MS = 40_000;
const MEASURED_MS = 20_000;
const STREAM = 'live/s';
const FORBIDDEN_TIMES = 20;

const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
const [serverCore, loadCore] = ['0', '1'];
pin(loadCore);

try {
  const source = makeSource(folder);
  const openers = [openNginxRtmp, openNodeMediaServer, openCauseway];
  for (const viewers of [100, 500, 1000]) {
    await compare(`viewers: ${viewers} of one stream`, openers, async (rival) => {
      await using _publisher = publish(source, [publishUrl(rival, STREAM)]);
      await delay(WARM_MS);
      return await measure(rival, { kind: rival.httpPort === undefined ? 'rtmp' : 'flv', viewers, streams: [STREAM] });
    });
  }
  await compare('hls: 300 viewers, blocking reloads', [openCauseway], async (rival) => {
    await using _publisher = publish(source, [publishUrl(rival, STREAM)]);
    await delay(WARM_MS);
    return await measure(rival, { kind: 'hls', viewers: 300, streams: [STREAM] });
  });
  const many = Array.from({ length: 40 }, (_, index) => `live/s${index}`);
  await compare('publishers: 40, nobody watches', openers, async (rival) => {
    await using _publishers = publish(
      source,
      many.map((stream) => publishUrl(rival, stream)),
    );
    await delay(2 * WARM_MS);
    return await measure(rival, { kind: 'flv', viewers: 0, streams: many });
  });
  await compare('publishers: 40, each with a viewer of HLS', [openCauseway], async (rival) => {
    await using _publishers = publish(
      source,
      many.map((stream) => publishUrl(rival, stream)),
    );
    await delay(2 * WARM_MS);
    return await measure(rival, { kind: 'hls', viewers: many.length, streams: many });
  });
  await compare('first key frame', [openNodeMediaServer, openCauseway], async (rival) => {
    await using _publisher = publish(source, [publishUrl(rival, STREAM)]);
    await delay(WARM_MS);
    const times: number[] = [];
    for (let n = 0; n < 50; n++) times.push(await firstKeyFrameMs(rival));
    times.sort((a, b) => a - b);
    return `${times[25]?.toFixed(1)} ms (median of 50), ${times[49]?.toFixed(1)} ms at most`;
  });
  for (const [player, file] of [
    ['mpegts.js', 's.flv'],
    ['hls.js', 's.m3u8'],
  ] as const) {
    await compare(`latency: ${player} in Chromium`, [openCauseway], async (rival) => {
      await using _publisher = publish(source, [publishUrl(rival, STREAM)]);
      await delay(WARM_MS);
      const url = `http://${HOST}:${rival.httpPort}/live/${file}`;
      const { seconds, droppedFrames } = await measureLatency(player, url, HOST);
      return `${seconds.toFixed(2)} s, ${droppedFrames} frames dropped`;
    });
  }
  if ('forbid'.startsWith(ONLY)) {
    console.log(`forbid: a publisher that goes on, and a viewer (load ${loadavg()[0]?.toFixed(1)})`);
    for (const [what, times] of Object.entries(await measureForbid(folder, FORBIDDEN_TIMES)))
      console.log(`  ${what}: ${formatMs(percentiles(times))}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}

async function compare(
  name: string,
  openers: readonly ((folder: string) => Promise<LiveRival>)[],
  work: (rival: LiveRival) => Promise<string>,
): Promise<void> {
  if (!name.startsWith(ONLY)) return;
  console.log(`${name} (load ${loadavg()[0]?.toFixed(1)})`);
  for (let round = 0; round < ROUNDS; round++) {
    for (const open of openers) {
      const home = mkdtempSync(join(folder, 'rival-'));
      pin(serverCore); // what is started from here
      await using rival = await open(home);
      pin(loadCore);
      console.log(`  ${rival.name}: ${await work(rival)}`);
    }
  }
}

async function measure(rival: LiveRival, load: Pick<ViewerLoad, 'kind' | 'viewers' | 'streams'>): Promise<string> {
  const idleMib = rival.memoryMib();
  const port = (load.kind === 'rtmp' ? rival.rtmpPort : rival.httpPort) ?? rival.rtmpPort;
  const running = startLoad({ ...load, port, host: HOST, warmMs: VIEWERS_WARM_MS, durationMs: MEASURED_MS });
  await running.warm;
  const [cpuBefore, startedAt] = [rival.cpuMs(), performance.now()];
  const figures = await running.figures;
  const cpu = ((rival.cpuMs() - cpuBefore) / (performance.now() - startedAt)) * 100;
  const kibEach = ((rival.memoryMib() - idleMib) * 1024) / Math.max(1, load.viewers);
  const rates = `${megabits(figures.medianBitsPerSecond)} Mbit/s each, slowest ${megabits(figures.slowestBitsPerSecond)}`;
  const answers = load.kind === 'hls' ? `, ${Math.round(figures.answersPerSecond)} answers/s` : '';
  const memory = load.viewers > 0 ? `, ${Math.round(kibEach)} KiB a viewer` : `, ${Math.round(rival.memoryMib())} MiB`;
  return `${cpu.toFixed(1)} % CPU, ${rates}${answers}${memory}, ${figures.failures} failures`;
}

function megabits(bits: number): string {
  return (bits / 1_000_000).toFixed(2);
}

function publishUrl({ rtmpPort, name }: LiveRival, stream: string): string {
  return `rtmp://127.0.0.1:${rtmpPort}/${stream}${name === 'causeway' ? `?vhost=${HOST}` : ''}`;
}

/** Milliseconds from the connection to the last byte of the first key frame. */
function firstKeyFrameMs({ httpPort = 0 }: LiveRival): Promise<number> {
  const startedAt = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const socket = connect({ port: httpPort, host: '127.0.0.1', noDelay: true });
  socket.write(`GET /${STREAM}.flv HTTP/1.0\r\nHost: ${HOST}\r\n\r\n`);
  let got = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    got = Buffer.concat([got, bytes]);
    if (!hasKeyFrame(got)) return;
    resolve(performance.now() - startedAt);
    socket.destroy();
  });
  socket.on('error', reject).on('end', () => reject(new Error('the stream ended')));
  return promise;
}

/** `bytes`: an answer from its head on, without chunks. */
function hasKeyFrame(bytes: Buffer): boolean {
  const flv = bytes.indexOf('FLV\x01');
  if (flv === -1) return false;
  for (let at = flv + 13; at + 11 < bytes.length; ) {
    const end = at + 15 + bytes.readUIntBE(at + 1, 3);
    const isKeyFrame = bytes[at] === 9 && bytes[at + 11] === 0x17 && bytes[at + 12] === 1;
    if (isKeyFrame) return end <= bytes.length;
    at = end;
  }
  return false;
}

function pin(core: string): void {
  execFileSync('taskset', ['-acp', core, String(process.pid)], { stdio: 'ignore' });
}
