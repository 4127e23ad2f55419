/**
 * The state machine of one stream: its holder, whether it is on air, and the effects of each event. Pure: `now`, like
 * every instant here, is in milliseconds of a monotonic clock. Whether a stream is forbidden is not part of the state
 * but looked up for each event, so a mark that travels by the feed cannot be bypassed. docs/decisions/0491
 */
import { unreachable } from '#lib/unreachable.ts';

export type StreamSource = 'publish' | 'origin';

/** Why a broadcast ended. `stopped`: the service was stopped. `unwatched`: the last viewer of a pulled stream left. */
export type EndReason =
  | 'unpublished'
  | 'lost'
  | 'forbidden'
  | 'kicked'
  | 'closed'
  | 'stopped'
  | 'crashed'
  | 'unwatched'
  | 'replaced';

export interface StreamLimits {
  /** Longest time from a publisher's admission to its first media. */
  readonly firstMediaMs: number;
  /** Silence after which a publisher counts as gone. */
  readonly silenceMs: number;
  /** Time for which a broadcast that has lost its publisher waits for the next one. */
  readonly graceMs: number;
  /** Silence after which a publisher gives way to another one. */
  readonly takeoverMs: number;
  /** Time without viewers after which a pulled stream ends. */
  readonly unwatchedMs: number;
}

export const STREAM_LIMITS: StreamLimits = {
  firstMediaMs: 5_000,
  silenceMs: 15_000,
  graceMs: 10_000,
  takeoverMs: 5_000,
  unwatchedMs: 15_000,
};

/** Resolution of instants of media: publishers send some eighty messages a second. */
const MEDIA_STEP_MS = 100;

/** A publisher, or a pull from an origin, that was accepted. */
interface Holder {
  /** Unique among all holders of this process. */
  readonly id: number;
  readonly source: StreamSource;
  readonly address: string;
  /** When it was accepted, later when its last media arrived. */
  readonly heardAt: number;
  readonly hasMedia: boolean;
}

export interface OnAir {
  readonly broadcast: string;
  readonly startedAt: number;
  readonly lastMediaAt: number;
  readonly source: StreamSource;
  readonly address: string;
  /** When the publisher was lost and the wait for the next one began; absent: media is arriving. */
  readonly brokenAt?: number;
}

export interface StreamState {
  readonly holder?: Holder;
  readonly onAir?: OnAir;
}

/** The stream has no holder and is not on air. */
export const IDLE: StreamState = {};

/** The current rules of the domain, the marks and control for the stream. */
export interface Rules {
  readonly isForbidden: boolean;
  readonly isOpen: boolean;
  /** A broadcast whose publisher is to be cut; empty: none. */
  readonly kicked: string;
  /** A broadcast that another live process owns; empty: none. */
  readonly disowned: string;
}

export type StreamEvent =
  | {
      readonly kind: 'publish';
      readonly holder: Pick<Holder, 'id' | 'source' | 'address'>;
      readonly isForbidden: boolean;
    }
  /** `broadcast`: id for a broadcast that begins with this message. */
  | { readonly kind: 'media'; readonly holder: number; readonly broadcast: string }
  | { readonly kind: 'gone'; readonly holder: number; readonly isClean: boolean }
  | { readonly kind: 'rules'; readonly rules: Rules }
  /** `unwatchedSince`: when the last viewer left; absent while there are viewers. */
  | { readonly kind: 'tick'; readonly unwatchedSince: number | undefined }
  /** A publisher wants the stream at the process that takes over from this one. */
  | { readonly kind: 'release' }
  /** The process stops. */
  | { readonly kind: 'stop' };

export type CutReason =
  | 'forbidden'
  | 'kicked'
  | 'closed'
  | 'replaced'
  | 'silent'
  | 'noMedia'
  | 'unwatched'
  /** The publisher filled its domain's share of the memory. */
  | 'overfull'
  | 'stopping';

export type StreamEffect =
  | { readonly kind: 'accept' }
  | { readonly kind: 'refuse'; readonly reason: 'busy' | 'forbidden' }
  | { readonly kind: 'cut'; readonly holder: number; readonly reason: CutReason }
  | { readonly kind: 'began'; readonly onAir: OnAir }
  /** Viewers are held while another publisher may come. */
  | { readonly kind: 'broke' }
  /** Another publisher continues the broadcast. */
  | { readonly kind: 'resumed' }
  | { readonly kind: 'ended'; readonly broadcast: string; readonly at: number; readonly reason: EndReason };

export interface StreamDecision {
  readonly state: StreamState;
  /** The effects, in the order in which they are to be done. */
  readonly effects: readonly StreamEffect[];
}

export function decideStream(
  state: StreamState,
  event: StreamEvent,
  now: number,
  limits: StreamLimits,
): StreamDecision {
  switch (event.kind) {
    case 'publish':
      return decidePublish(state, event, now, limits);
    case 'media':
      return decideMedia(state, event, now);
    case 'gone':
      return event.holder === state.holder?.id ? leave(state, event.isClean, now) : unchanged(state);
    case 'rules':
      return decideRules(state, event.rules, now);
    case 'tick':
      return decideTick(state, event.unwatchedSince, now, limits);
    case 'release':
      return release(state, now, limits);
    case 'stop':
      return stop(state, now);
    default:
      return unreachable(event);
  }
}

type PublishEvent = Extract<StreamEvent, { kind: 'publish' }>;

function decidePublish(state: StreamState, event: PublishEvent, now: number, limits: StreamLimits): StreamDecision {
  if (event.isForbidden) return { state, effects: [{ kind: 'refuse', reason: 'forbidden' }] };
  const next: Holder = { ...event.holder, heardAt: now, hasMedia: false };
  const { holder, onAir } = state;
  if (holder === undefined) return { state: { ...state, holder: next }, effects: [{ kind: 'accept' }] };
  if (event.holder.source === 'origin') return { state, effects: [{ kind: 'refuse', reason: 'busy' }] };
  if (holder.source === 'origin') {
    // A local publisher wins over a pull, which is another broadcast.
    const ended = end(state, 'replaced', now, 'replaced');
    return { state: { holder: next }, effects: [...ended.effects, { kind: 'accept' }] };
  }
  if (now - holder.heardAt <= limits.takeoverMs) return { state, effects: [{ kind: 'refuse', reason: 'busy' }] };
  const broken = onAir && breakOff(onAir, now);
  return {
    state: { holder: next, ...(broken && { onAir: broken }) },
    effects: [
      { kind: 'cut', holder: holder.id, reason: 'silent' },
      ...(onAir === undefined || onAir.brokenAt !== undefined ? [] : [{ kind: 'broke' } as const]),
      { kind: 'accept' },
    ],
  };
}

function decideMedia(
  state: StreamState,
  event: { readonly holder: number; readonly broadcast: string },
  now: number,
): StreamDecision {
  const { onAir } = state;
  if (state.holder?.id !== event.holder) return unchanged(state);
  const isNoted = state.holder.hasMedia && onAir !== undefined && onAir.brokenAt === undefined;
  if (isNoted && now - onAir.lastMediaAt < MEDIA_STEP_MS) return unchanged(state);
  const holder = { ...state.holder, heardAt: now, hasMedia: true };
  const { source, address } = holder;
  if (onAir === undefined) {
    const begun: OnAir = { broadcast: event.broadcast, startedAt: now, lastMediaAt: now, source, address };
    return { state: { holder, onAir: begun }, effects: [{ kind: 'began', onAir: begun }] };
  }
  const { brokenAt, ...kept } = onAir;
  return {
    state: { holder, onAir: { ...kept, address, lastMediaAt: now } },
    effects: brokenAt === undefined ? [] : [{ kind: 'resumed' }],
  };
}

/** Handles a holder that left. A pull has tried all its origins by then, so its broadcast ends without grace. */
function leave(state: StreamState, isClean: boolean, now: number): StreamDecision {
  const { holder, onAir } = state;
  if (onAir === undefined || holder === undefined) return { state: IDLE, effects: [] };
  // Its broadcast was in grace, and stays so.
  if (!holder.hasMedia) return { state: { onAir: breakOff(onAir, now) }, effects: [] };
  if (isClean) return ended(onAir, 'unpublished', now);
  if (holder.source === 'origin') return ended(onAir, 'lost', onAir.lastMediaAt);
  return { state: { onAir: breakOff(onAir, now) }, effects: [{ kind: 'broke' }] };
}

function decideRules(state: StreamState, rules: Rules, now: number): StreamDecision {
  const { onAir } = state;
  if (rules.isForbidden) return end(state, 'forbidden', now, 'forbidden');
  if (!rules.isOpen) return end(state, 'closed', now, 'closed');
  if (onAir === undefined) return unchanged(state);
  if (rules.kicked === onAir.broadcast) return end(state, 'kicked', now, 'kicked');
  if (rules.disowned === onAir.broadcast) return end(state, 'replaced', now, 'replaced');
  return unchanged(state);
}

function decideTick(
  state: StreamState,
  unwatchedSince: number | undefined,
  now: number,
  limits: StreamLimits,
): StreamDecision {
  const { holder, onAir } = state;
  if (onAir?.source === 'origin' && unwatchedSince !== undefined && now - unwatchedSince >= limits.unwatchedMs)
    return end(state, 'unwatched', now, 'unwatched');
  if (onAir?.brokenAt !== undefined && now - onAir.brokenAt >= limits.graceMs) {
    // A publisher that has been accepted meanwhile begins another broadcast.
    const over = ended(onAir, 'lost', onAir.lastMediaAt);
    return { ...over, state: holder === undefined ? IDLE : { holder } };
  }
  // A pull has time limits of its own, for each of its origins.
  if (holder === undefined || holder.source === 'origin') return unchanged(state);
  const silentMs = now - holder.heardAt;
  if (!holder.hasMedia && silentMs >= limits.firstMediaMs)
    return { state: onAir ? { onAir } : IDLE, effects: [{ kind: 'cut', holder: holder.id, reason: 'noMedia' }] };
  if (!holder.hasMedia || silentMs < limits.silenceMs) return unchanged(state);
  const left = leave(state, false, now);
  return { ...left, effects: [{ kind: 'cut', holder: holder.id, reason: 'silent' }, ...left.effects] };
}

/** Gives the stream up under the conditions under which another publisher would be admitted. */
function release(state: StreamState, now: number, limits: StreamLimits): StreamDecision {
  const { holder, onAir } = state;
  if (holder?.source === 'publish' && now - holder.heardAt <= limits.takeoverMs)
    return { state, effects: [{ kind: 'refuse', reason: 'busy' }] };
  if (onAir?.brokenAt !== undefined) return end(state, 'lost', onAir.lastMediaAt, 'silent');
  return end(state, 'replaced', now, holder?.source === 'publish' ? 'silent' : 'replaced');
}

/** Ends the broadcast at a graceful shutdown. One in grace ended when its publisher was lost. */
function stop(state: StreamState, now: number): StreamDecision {
  const { onAir } = state;
  if (onAir?.brokenAt !== undefined) return end(state, 'lost', onAir.lastMediaAt, 'stopping');
  return end(state, 'stopped', now, 'stopping');
}

/** Cuts the holder of the stream and ends its broadcast. */
function end(state: StreamState, reason: EndReason, at: number, cut: CutReason): StreamDecision {
  const { holder, onAir } = state;
  const cuts: StreamEffect[] = holder === undefined ? [] : [{ kind: 'cut', holder: holder.id, reason: cut }];
  return { state: IDLE, effects: onAir === undefined ? cuts : [...cuts, ...ended(onAir, reason, at).effects] };
}

function ended({ broadcast }: OnAir, reason: EndReason, at: number): StreamDecision {
  return { state: IDLE, effects: [{ kind: 'ended', broadcast, at, reason }] };
}

/** Begins the grace of a broadcast, unless it is in grace already. */
function breakOff(onAir: OnAir, now: number): OnAir {
  return { ...onAir, brokenAt: onAir.brokenAt ?? now };
}

function unchanged(state: StreamState): StreamDecision {
  return { state, effects: NOTHING };
}

const NOTHING: readonly StreamEffect[] = [];
