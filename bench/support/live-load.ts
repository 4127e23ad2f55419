/** A thread of viewers: of HTTP-FLV, of RTMP, or of low-latency HLS as a player asks for it. */
import { Agent, request as ask } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type AmfValue, encodeAmf0 } from '#live/rtmp/amf0.ts';
import { writeMessage } from '#live/rtmp/chunk-writer.ts';
import { HANDSHAKE_END_BYTES, HANDSHAKE_START_BYTES } from '#live/rtmp/handshake.ts';
import { MESSAGE_TYPE } from '#live/rtmp/messages.ts';
import { beginHandshake } from '../../test/support/live/rtmp-handshake.ts';

export interface ViewerLoad {
  readonly kind: 'flv' | 'rtmp' | 'hls';
  readonly port: number;
  readonly host: string;
  /** `app/stream` of each; viewers are spread over them. */
  readonly streams: readonly string[];
  readonly viewers: number;
  /** Time before the measurement begins; the viewers arrive within its first half. */
  readonly warmMs: number;
  readonly durationMs: number;
}

export interface ViewerFigures {
  /** Rate of a viewer during the measurement. */
  readonly medianBitsPerSecond: number;
  readonly slowestBitsPerSecond: number;
  /** HLS: whole answers a second, of all viewers. */
  readonly answersPerSecond: number;
  /** Connections that ended, and answers other than the stream. */
  readonly failures: number;
}

export interface RunningLoad {
  /** Resolves when all viewers are there and have warmed up. */
  readonly warm: Promise<void>;
  readonly figures: Promise<ViewerFigures>;
}

export function startLoad(load: ViewerLoad): RunningLoad {
  const worker = new Worker(new URL(import.meta.url), { workerData: load });
  const warm = Promise.withResolvers<void>();
  const figures = Promise.withResolvers<ViewerFigures>();
  worker.on('message', (message: 'warm' | ViewerFigures) => {
    if (message === 'warm') warm.resolve();
    else {
      figures.resolve(message);
      void worker.terminate();
    }
  });
  worker.once('error', (error) => {
    warm.reject(error);
    figures.reject(error);
  });
  return { warm: warm.promise, figures: figures.promise };
}

interface Viewer {
  bytes: number;
  answers: number;
  failures: number;
}

if (!isMainThread && parentPort !== null) await run(workerData);

async function run(load: ViewerLoad): Promise<void> {
  const viewers: Viewer[] = [];
  for (let index = 0; index < load.viewers; index++) {
    const viewer = { bytes: 0, answers: 0, failures: 0 };
    viewers.push(viewer);
    const [app = '', stream = ''] = (load.streams[index % load.streams.length] ?? '').split('/');
    if (load.kind === 'flv') watchFlv(load, `/${app}/${stream}.flv`, viewer);
    else if (load.kind === 'rtmp') watchRtmp(load, app, stream, viewer);
    else void watchHls(load, `/${app}/${stream}.m3u8`, viewer);
    await delay(load.warmMs / 2 / load.viewers);
  }
  await delay(load.warmMs / 2);
  const before = viewers.map((viewer) => ({ ...viewer }));
  const startedAt = performance.now();
  parentPort?.postMessage('warm');
  await delay(load.durationMs);
  const seconds = (performance.now() - startedAt) / 1000;
  const rates = viewers.map(({ bytes }, index) => ((bytes - (before[index]?.bytes ?? 0)) * 8) / seconds);
  rates.sort((a, b) => a - b);
  const sum = (key: 'answers' | 'failures', from: readonly Viewer[]) => from.reduce((all, one) => all + one[key], 0);
  parentPort?.postMessage({
    medianBitsPerSecond: rates[Math.floor(rates.length / 2)] ?? 0,
    slowestBitsPerSecond: rates[0] ?? 0,
    answersPerSecond: (sum('answers', viewers) - sum('answers', before)) / seconds,
    failures: sum('failures', viewers),
  } satisfies ViewerFigures);
}

function watchFlv({ port, host }: ViewerLoad, path: string, viewer: Viewer): void {
  const socket = open(port, viewer);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: bench\r\n\r\n`);
  socket.once('data', (head) => {
    if (!head.toString('latin1').startsWith('HTTP/1.1 200')) viewer.failures += 1;
  });
}

function watchRtmp({ port, host }: ViewerLoad, app: string, stream: string, viewer: Viewer): void {
  const socket = open(port, viewer);
  socket.write(beginHandshake(Buffer.alloc(1536, 1), undefined));
  let handshakeBytes = 0;
  const answer = (bytes: Buffer) => {
    handshakeBytes += bytes.length;
    if (handshakeBytes < HANDSHAKE_START_BYTES + HANDSHAKE_END_BYTES) return;
    socket.off('data', answer);
    const command = (streamId: number, ...values: readonly AmfValue[]) =>
      writeMessage({ type: MESSAGE_TYPE.command, timestamp: 0, streamId, payload: encodeAmf0(...values) }, 3, 128);
    const tcUrl = `rtmp://${host}/${app}`;
    socket.write(Buffer.alloc(HANDSHAKE_END_BYTES));
    socket.write(command(0, 'connect', 1, { app, tcUrl, flashVer: 'bench', capabilities: 15 }));
    socket.write(command(0, 'createStream', 2, null));
    socket.write(command(1, 'play', 3, null, stream, -2000));
  };
  socket.on('data', answer);
}

function open(port: number, viewer: Viewer): Socket {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const fail = () => {
    viewer.failures += 1;
  };
  socket.on('data', ({ length }) => {
    viewer.bytes += length;
  });
  return socket.on('error', fail).on('end', fail);
}

/** Follows a playlist by blocking reloads, and fetches each part as it appears. */
async function watchHls({ port, host }: ViewerLoad, path: string, viewer: Viewer): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  const get = (target: string) => fetchText({ agent, port, host }, target, viewer);
  const multivariant = await get(path);
  const media = /^[^#\s].*$/m.exec(multivariant ?? '')?.[0];
  if (media === undefined) {
    viewer.failures += 1;
    return;
  }
  const at = new URL(media, `http://${host}${path}`);
  let playlist = await get(at.pathname);
  for (;;) {
    const parts = [...(playlist ?? '').matchAll(/^#EXT-X-PART:.*URI="([^"]+)"/gm)].map(([, uri = '']) => uri);
    const last = parts.at(-1);
    const hint = /^#EXT-X-PRELOAD-HINT:.*URI="(?:[^"]*\/)?(\d+)\.(\d+)\.m4s/m.exec(playlist ?? '');
    if (last === undefined || hint === null) {
      viewer.failures += 1;
      await delay(500);
      playlist = await get(at.pathname);
      continue;
    }
    const next = get(`${at.pathname}?_HLS_msn=${hint[1]}&_HLS_part=${hint[2]}`);
    await get(new URL(last, at).pathname);
    playlist = await next;
  }
}

interface From {
  readonly agent: Agent;
  readonly port: number;
  readonly host: string;
}

function fetchText({ agent, port, host }: From, path: string, viewer: Viewer): Promise<string | undefined> {
  return new Promise((resolve) => {
    const fail = () => {
      viewer.failures += 1;
      resolve(undefined);
    };
    const request = ask({ agent, port, host: '127.0.0.1', path, headers: { host } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => {
        viewer.bytes += chunk.length;
        chunks.push(chunk);
      });
      response.on('error', fail).on('end', () => {
        viewer.answers += 1;
        if (response.statusCode !== 200) fail();
        else resolve(Buffer.concat(chunks).toString('latin1'));
      });
    });
    request.on('error', fail).end();
  });
}
