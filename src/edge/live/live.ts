/** Joins the components of a worker for live streams, which `answer-live.ts` uses. */
import type { Registry } from 'prom-client';
import type { HubLimits } from '#fanout/hub.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { createShares, type Shares } from '#lib/shares.ts';
import type { LiveMarkSource } from '#sites/live.ts';
import { Audience, hashViewer } from './audience.ts';
import { HlsFiles } from './hls-files.ts';
import { addLiveGauges } from './live-metrics.ts';
import { OwnerClient, type OwnerLimits } from './owner-client.ts';
import { PlayKeys } from './play-keys.ts';
import { Relays } from './relays.ts';
import { Sessions } from './sessions.ts';
import { StreamTable } from './stream-table.ts';

export interface LiveOptions {
  /** Path of the live process's socket. */
  readonly socketPath: string;
  /** Name of this worker in its reports. */
  readonly worker: string;
  /** Keys and marks, from the edge's own file. */
  readonly source: Pick<LiveMarkSource, 'getLiveKeys' | 'getLiveMark'>;
  readonly limits?: Partial<LiveLimits>;
}

export interface LiveLimits extends OwnerLimits {
  /**
   * Interval of audience reports and of checks of long-lived answers: whether they are still allowed, or due for a log
   * line.
   */
  readonly reportMs: number;
  /** Longest wait of a viewer for the live process. */
  readonly waitMs: number;
  /** Limit of requests that wait for an HLS file, of which each client network has a share. docs/decisions/0528 */
  readonly maxWaits: number;
  readonly hub: HubLimits | undefined;
}

const DEFAULT_LIVE_LIMITS: LiveLimits = {
  retryMs: 1_000,
  silenceMs: 15_000,
  answerMs: 20_000,
  reportMs: 5_000,
  waitMs: 15_000,
  maxWaits: 8_192,
  hub: undefined,
};

export interface LiveEdge {
  readonly files: HlsFiles;
  /** Shares of client networks in the waiting requests. */
  readonly waits: Shares;
  readonly streams: StreamTable;
  readonly relays: Relays;
  readonly sessions: Sessions;
  readonly audience: Audience;
  readonly limits: LiveLimits;
  readonly playKeys: PlayKeys;
  readonly source: LiveOptions['source'];
  /** Called when settings have changed: checks all viewers again. */
  recheck(): void;
  /** Ends all long-lived answers. */
  close(): void;
}

export function createLive(
  options: LiveOptions,
  { clock, log, registry }: { readonly clock: Clock; readonly log: Logger; readonly registry: Registry },
): LiveEdge {
  const limits = { ...DEFAULT_LIVE_LIMITS, ...options.limits };
  const streams = new StreamTable((key, state) => relays.note(key, state));
  const client = new OwnerClient(streams, { socketPath: options.socketPath, clock, log, limits });
  const relays = new Relays({ client, streams, log, limits: limits.hub });
  const files = new HlsFiles({ read: (path) => client.readFile(path), clock, waitMs: limits.waitMs });
  const sessions = new Sessions();
  const audience = new Audience();
  const playKeys = new PlayKeys(options.source);
  addLiveGauges({ sessions, relays, streams, files }, registry);
  let isTelling = false;
  const timer = setInterval(() => {
    sessions.recheck();
    sessions.writeLines(clock());
    relays.empty();
    if (isTelling || !streams.isSynced) return;
    isTelling = true;
    const report = { worker: options.worker, streams: describeViewers(sessions, audience, clock()) };
    void client.tellViewers(JSON.stringify(report)).finally(() => {
      isTelling = false;
    });
  }, limits.reportMs);
  return {
    files,
    waits: createShares(limits.maxWaits),
    streams,
    relays,
    sessions,
    audience,
    limits,
    playKeys,
    source: options.source,
    recheck: () => {
      playKeys.forget();
      sessions.recheck();
    },
    close: () => {
      clearInterval(timer);
      relays.close();
      client.close();
    },
  };
}

function describeViewers(sessions: Sessions, audience: Audience, now: number) {
  const open = sessions.counts();
  const watching = audience.watching(now);
  return [...new Set([...open.keys(), ...watching.keys()])].map((key) => {
    const [domain = '', app = '', stream = ''] = key.split('/');
    const { flv = 0, websocket = 0 } = open.get(key) ?? {};
    return { domain: Number(domain), app, stream, flv, websocket, hls: (watching.get(key) ?? []).map(hashViewer) };
  });
}
