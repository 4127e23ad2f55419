/** Viewers over time as a chart draws them. Pure. */
import type { DataOf } from '#contract/operations.ts';
import type { ViewerRange } from '../../routes/streams.ts';

type Viewers = DataOf<'live.viewers'>;

/** Protocols from the top of a chart down: the ones with the most viewers stand lowest. */
export const PROTOCOLS = ['rtmp', 'websocket', 'flv', 'hls'] as const;
type Protocol = (typeof PROTOCOLS)[number];

const DAY_SECONDS = 86_400;

/** How far back a range goes, and the longest grain that the service has for it, seconds. */
export const VIEWER_SPANS = {
  '1h': { seconds: 3600, interval: 'minute' },
  '24h': { seconds: DAY_SECONDS, interval: 'minute' },
  '30d': { seconds: 30 * DAY_SECONDS, interval: 'hour' },
} as const satisfies Readonly<
  Record<ViewerRange, { readonly seconds: number; readonly interval: Viewers['interval'] }>
>;

const STEP_SECONDS: Readonly<Record<Viewers['interval'], number>> = { minute: 60, hour: 3600 };

interface ViewerCourse {
  /** Beginning of each step, Unix seconds. */
  readonly times: readonly number[];
  /** One for each step; null: no stream was on air. */
  readonly values: Readonly<Record<Protocol, readonly (number | null)[]>>;
}

/** `from` and `to`: Unix seconds. */
export function viewerCourse(
  { interval, list }: Pick<Viewers, 'interval' | 'list'>,
  { from, to }: { readonly from: number; readonly to: number },
): ViewerCourse {
  const step = STEP_SECONDS[interval];
  const first = from - (from % step);
  const times = Array.from({ length: Math.ceil((to - first) / step) }, (_, n) => first + n * step);
  const known = new Map(list.map((one) => [one.time, one]));
  const valuesOf = (protocol: Protocol) => times.map((time) => known.get(time)?.[protocol] ?? null);
  return {
    times,
    values: { rtmp: valuesOf('rtmp'), websocket: valuesOf('websocket'), flv: valuesOf('flv'), hls: valuesOf('hls') },
  };
}
