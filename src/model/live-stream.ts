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

/**
 * Why a broadcast ended. `stopped`: the service was stopped in an orderly way; `crashed`: it was killed. `replaced`:
 * another live process had the stream, or a publisher took the place of an origin.
 */
export const END_REASONS = [
  'unpublished',
  'lost',
  'forbidden',
  'kicked',
  'closed',
  'stopped',
  'crashed',
  'unwatched',
  'replaced',
] as const;
type EndReason = (typeof END_REASONS)[number];

export type LiveEvent = BroadcastName & {
  /** Ascending within one file of a live process. */
  readonly n: number;
  /** Time of the event; for `ended`, of the last media message if the publisher was lost. */
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
  /** Address of the publisher or the origin. */
  readonly address: string;
  /** The publisher is lost and may come back. */
  readonly isInGrace: boolean;
  /** Empty: there is no such track. */
  readonly videoCodec: string;
  readonly audioCodec: string;
  /** 0, here and below: not known. */
  readonly width: number;
  readonly height: number;
  /** Frames per second. */
  readonly frameRate: number;
  /** Distance between key frames. */
  readonly keyFrameMs: number;
  readonly bitsPerSecond: number;
  readonly repairedTimestamps: number;
  readonly viewers: ViewerCounts;
  /** What the publisher calls itself; may be empty. */
  readonly flashVer: string;
}

export function sumViewers({ flv, websocket, rtmp, hls }: ViewerCounts): number {
  return flv + websocket + rtmp + hls;
}

/** Key of the feed's resource with the mark of a stream. */
export function liveMarkKey({ domainId, app, stream }: StreamName): string {
  return `${domainId}/${app}/${stream}`;
}

/** How long a stream that is neither on air nor forbidden is listed. */
export const READY_KEEP_MS = 30 * 24 * 3600 * 1000;
/** Streams in one list. */
export const MAX_LISTED_STREAMS = 10_000;

const STREAM_STATES = ['ONGOING', 'PAUSED', 'READY'] as const;
export type ListedStreamState = (typeof STREAM_STATES)[number];

/** What is stored of a stream: its latest broadcast and its mark. */
export interface StreamFacts extends StreamName {
  /** Empty: it was never on air. */
  readonly broadcast: string;
  readonly beganAt: number;
  /** 0 with a broadcast: it is on air. */
  readonly endedAt: number;
  readonly isForbidden: boolean;
  readonly forbiddenAt: number;
  /** 0: until it is resumed. */
  readonly forbiddenUntil: number;
  readonly resumedAt: number;
}

export interface ListedStream extends StreamName {
  readonly state: ListedStreamState;
  readonly beganAt: number;
  readonly endedAt: number;
}

/** Whether a broadcast has begun and not ended, whatever the mark says. */
export function isOnAir({ broadcast, endedAt }: Pick<StreamFacts, 'broadcast' | 'endedAt'>): boolean {
  return broadcast !== '' && endedAt === 0;
}

/** `undefined`: it is not listed any more. */
export function listedStream(facts: StreamFacts, now: number): ListedStream | undefined {
  const { domainId, app, stream, beganAt, endedAt } = facts;
  const listed = { domainId, app, stream, beganAt };
  if (isPaused(facts, now)) {
    // A broadcast on air ends with the order; the live process reports the exact time later.
    return { ...listed, state: 'PAUSED', endedAt: isOnAir(facts) ? facts.forbiddenAt : endedAt };
  }
  if (isOnAir(facts)) return { ...listed, state: 'ONGOING', endedAt: 0 };
  const resumedAt = facts.isForbidden ? facts.forbiddenUntil : facts.resumedAt;
  if (Math.max(endedAt, resumedAt) <= now - READY_KEEP_MS) return undefined;
  return { ...listed, state: 'READY', endedAt };
}

/** ONGOING, PAUSED, READY; then the newest broadcast first; then by name. At most `MAX_LISTED_STREAMS`. */
export function listStreamStates(facts: readonly StreamFacts[], now: number): readonly ListedStream[] {
  return facts
    .flatMap((each) => listedStream(each, now) ?? [])
    .sort(
      (a, b) =>
        STREAM_STATES.indexOf(a.state) - STREAM_STATES.indexOf(b.state) ||
        b.beganAt - a.beganAt ||
        compareTexts(a.app, b.app) ||
        compareTexts(a.stream, b.stream),
    )
    .slice(0, MAX_LISTED_STREAMS);
}

function isPaused({ isForbidden, forbiddenUntil }: StreamFacts, now: number): boolean {
  return isForbidden && (forbiddenUntil === 0 || now < forbiddenUntil);
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
