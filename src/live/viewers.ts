/** Counts the viewers of each stream by HTTP from the reports of the edge workers. Silent workers are forgotten. */
import { isCount } from '#lib/is-count.ts';
import { parseObject } from '#lib/parse-object.ts';
import { type StreamName, streamKey } from '#sites/live.ts';

interface StreamViewers {
  readonly flv: number;
  readonly websocket: number;
  /** Hashes that identify the HLS viewers; several workers may report one viewer. */
  readonly hls: readonly string[];
}

const SILENT_MS = 15_000;
const MAX_WORKERS = 512;
const MAX_STREAMS = 10_000;
const MAX_HLS = 10_000;
const NOBODY: ViewerSum = { flv: 0, websocket: 0, hls: 0 };

export interface ViewerSum {
  readonly flv: number;
  readonly websocket: number;
  readonly hls: number;
}

interface Report {
  readonly at: number;
  readonly streams: ReadonlyMap<string, StreamViewers>;
}

export class Viewers {
  readonly #reports = new Map<string, Report>();
  #sums: ReadonlyMap<string, ViewerSum> = new Map();

  /** Takes a worker's report. Returns false if it is malformed. `now`: milliseconds of a monotonic clock. */
  take(text: string, now: number): boolean {
    const report = readReport(text);
    if (report === undefined) return false;
    this.#reports.delete(report.worker);
    if (this.#reports.size < MAX_WORKERS) this.#reports.set(report.worker, { at: now, streams: report.streams });
    this.sweep(now);
    return true;
  }

  /** Forgets workers that have been silent. */
  sweep(now: number): void {
    for (const [worker, { at }] of this.#reports) if (now - at >= SILENT_MS) this.#reports.delete(worker);
    this.#sums = sumUp([...this.#reports.values()].map(({ streams }) => streams));
  }

  of(name: StreamName): ViewerSum {
    return this.#sums.get(streamKey(name)) ?? NOBODY;
  }
}

function sumUp(reports: readonly ReadonlyMap<string, StreamViewers>[]): ReadonlyMap<string, ViewerSum> {
  const sums = new Map<string, { flv: number; websocket: number; hls: Set<string> }>();
  for (const streams of reports)
    for (const [key, { flv, websocket, hls }] of streams) {
      const sum = sums.get(key) ?? { flv: 0, websocket: 0, hls: new Set() };
      sum.flv += flv;
      sum.websocket += websocket;
      for (const viewer of hls) sum.hls.add(viewer);
      sums.set(key, sum);
    }
  return new Map([...sums].map(([key, sum]) => [key, { ...sum, hls: sum.hls.size }]));
}

/** Reads a worker's report, and leaves malformed entries out. */
function readReport(text: string) {
  const { worker, streams } = parseObject(text) ?? {};
  if (typeof worker !== 'string' || !Array.isArray(streams)) return undefined;
  const read = streams.slice(0, MAX_STREAMS).map((each): [string, StreamViewers] => {
    const { domain, app, stream, flv, websocket, hls } = Object(each) as Record<string, unknown>;
    const key = streamKey({ domainId: readCount(domain), app: String(app), stream: String(stream) });
    const viewers = Array.isArray(hls) ? hls.slice(0, MAX_HLS).filter((one) => typeof one === 'string') : [];
    return [key, { flv: readCount(flv), websocket: readCount(websocket), hls: viewers }];
  });
  return { worker, streams: new Map(read) };
}

function readCount(value: unknown): number {
  return isCount(value) ? value : 0;
}
