/**
 * Live streams as control stores and lists them: their names, what a live process reports of them, and their states.
 * Instants are epoch milliseconds; 0 means that there is none. docs/decisions/0500
 */

export const LIVE_MARK_KIND = 'live_mark';
export const LIVE_KEYS_KIND = 'live_keys';

export interface StreamName {
  readonly domainId: number;
  readonly app: string;
  readonly stream: string;
}

/** One period in which a stream is on air. */
export interface BroadcastName extends StreamName {
  /** `[a-z0-9]{1,32}`, another one for each broadcast. */
  readonly broadcast: string;
}

export const LIVE_SOURCES = ['publish', 'origin'] as const;
type LiveSource = (typeof LIVE_SOURCES)[number];

/** Why a broadcast ended. `replaced`: another live process had the stream, or a publisher took the place of an origin. */
export const END_REASONS = [
  'unpublished',
  'lost',
  'forbidden',
  'kicked',
  'closed',
  'crashed',
  'unwatched',
  'replaced',
] as const;
type EndReason = (typeof END_REASONS)[number];

export type LiveEvent = BroadcastName & {
  /** Ascending within one file of a live process. */
  readonly n: number;
  /** For `ended`, the time of the last media message when the publisher was lost. */
  readonly at: number;
} & (
    | { readonly kind: 'began'; readonly source: LiveSource; readonly address: string }
    | { readonly kind: 'ended'; readonly reason: EndReason }
  );

export interface ViewerCounts {
  readonly flv: number;
  readonly websocket: number;
  readonly rtmp: number;
  readonly hls: number;
}

/** A broadcast on air, as its live process sees it. */
export interface LiveStatus extends BroadcastName {
  readonly startedAt: number;
  readonly lastMediaAt: number;
  readonly source: LiveSource;
  /** Of the publisher or the origin. */
  readonly address: string;
  /** The publisher is lost and may come back. */
  readonly isInGrace: boolean;
  /** Empty: there is no such track. */
  readonly videoCodec: string;
  readonly audioCodec: string;
  /** 0, here and below: not known. */
  readonly width: number;
  readonly height: number;
  /** Per second. */
  readonly frameRate: number;
  /** Distance between key frames. */
  readonly keyFrameMs: number;
  readonly bitsPerSecond: number;
  readonly repairedTimestamps: number;
  readonly viewers: ViewerCounts;
  /** What the publisher calls itself; may be empty. */
  readonly flashVer: string;
}

/** Key of the feed's resource with the mark of a stream. */
export function liveMarkKey({ domainId, app, stream }: StreamName): string {
  return `${domainId}/${app}/${stream}`;
}
