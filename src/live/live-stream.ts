/**
 * One stream: does what its state machine decides. Publishers and pulls come in here, viewers attach to its broadcast.
 */
import type { MediaMessage } from '#fanout/media/message.ts';
import type { Clock } from '#lib/clock.ts';
import type { Timers } from '#lib/timers.ts';
import { unreachable } from '#lib/unreachable.ts';
import type { StreamName } from '#sites/live.ts';
import { Broadcast } from './broadcast.ts';
import type { CapacityRefusal } from './capacity.ts';
import type { NewEvent } from './event-store.ts';
import {
  type CutReason,
  decideStream,
  type EndReason,
  IDLE,
  type OnAir,
  type Rules,
  type StreamEffect,
  type StreamEvent,
  type StreamLimits,
  type StreamSource,
  type StreamState,
} from './streams/stream-state.ts';

/** The side of a publisher or pull that brings the stream in. */
export interface HolderSide {
  readonly source: StreamSource;
  readonly address: string;
  /** The publisher's name for itself; may be empty. */
  readonly flashVer: string;
  /** Size of incomplete messages. */
  readonly heldBytes: number;
  /** Cuts the holder; reading ends before this returns. */
  cut(reason: CutReason): void;
}

export interface LiveStreamOptions {
  readonly name: StreamName;
  readonly limits: StreamLimits;
  readonly timers: Timers;
  readonly clock: Clock;
  /** Converts an instant of the timers to epoch milliseconds. */
  toEpoch(at: number): number;
  newHolderId(): number;
  newBroadcastId(): string;
  onEvent(event: NewEvent): void;
  /** Notified when a broadcast has begun, before its first media is taken. */
  onBegan(broadcast: Broadcast): void;
  /** Notified when a broadcast has ended and its last media was taken. */
  onEnded(broadcast: Broadcast): void;
  /** Notified when the state of the stream has changed. */
  onChange(): void;
}

/** Input of a holder. Calls after its `end` do nothing. */
export interface Intake {
  take(message: MediaMessage): void;
  /** Called when the timestamps start anew, as those of another origin do. */
  restart(): void;
  end(isClean: boolean): void;
}

export type Admission =
  | { readonly kind: 'accepted'; readonly intake: Intake }
  | { readonly kind: 'refused'; readonly reason: 'busy' | 'forbidden' | 'closed' | CapacityRefusal };

/** Time for HLS players to see the end of the playlist: they reload it within a few target durations. */
const PAST_MS = 20_000;
/** Reasons for which viewers are cut at once, not served to the end. */
const CUTTING: readonly EndReason[] = ['forbidden', 'kicked', 'closed'];

export class LiveStream {
  readonly name: StreamName;
  readonly #options: LiveStreamOptions;
  readonly #sides = new Map<number, HolderSide>();
  #state: StreamState = IDLE;
  #broadcast: Broadcast | undefined;
  /** Metadata of a holder that has not sent media yet; it is taken first when the broadcast begins. */
  #metadata: MediaMessage | undefined;
  #unwatchedSince: number | undefined;
  /** The last broadcast, kept for up to `PAST_MS` so that HLS viewers see the end of its playlist. */
  #past: { readonly broadcast: Broadcast; readonly endedAt: number } | undefined;

  constructor(options: LiveStreamOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** The broadcast on air. */
  get broadcast(): Broadcast | undefined {
    return this.#broadcast;
  }

  /** Returns the broadcast of this id: the one on air, or the last one while HLS viewers may fetch its end. */
  broadcastOf(id: string): Broadcast | undefined {
    return [this.#broadcast, this.#past?.broadcast].find((one) => one?.id === id);
  }

  /** The last broadcast, while its HLS viewers may still fetch the end of its playlist. */
  get past(): Broadcast | undefined {
    return this.#past?.broadcast;
  }

  get onAir(): OnAir | undefined {
    return this.#state.onAir;
  }

  /** The side of the current holder; absent if the stream has none. */
  get side(): HolderSide | undefined {
    return this.#state.holder && this.#sides.get(this.#state.holder.id);
  }

  /** Whether the stream has no holder, is not on air, and has no HLS viewer that must still see its end. */
  get isIdle(): boolean {
    return this.#state.holder === undefined && this.#state.onAir === undefined && this.#past === undefined;
  }

  get bytesHeld(): number {
    const past = this.#past?.broadcast.bytesHeld ?? 0;
    return (this.#broadcast?.bytesHeld ?? 0) + past + (this.side?.heldBytes ?? 0);
  }

  /** Drops the media kept for new viewers. Cuts the holder if that frees less than half of the memory. */
  empty(): void {
    const before = this.bytesHeld;
    this.#broadcast?.empty();
    this.#forgetPast();
    const { holder } = this.#state;
    if (holder === undefined || this.bytesHeld * 2 <= before) return;
    this.#cut(holder.id, 'overfull');
    this.#apply({ kind: 'gone', holder: holder.id, isClean: false });
  }

  admit(side: HolderSide, isForbidden: boolean): Admission {
    const { source, address } = side;
    const id = this.#options.newHolderId();
    const effects = this.#apply({ kind: 'publish', holder: { id, source, address }, isForbidden });
    const refusal = effects.find((effect) => effect.kind === 'refuse');
    if (refusal !== undefined) return { kind: 'refused', reason: refusal.reason };
    this.#sides.set(id, side);
    this.#metadata = undefined;
    return { kind: 'accepted', intake: this.#intake(id) };
  }

  applyRules(rules: Rules): void {
    if (rules.isForbidden || !rules.isOpen) this.#forgetPast();
    this.#apply({ kind: 'rules', rules });
  }

  /** Applies the deadlines. `viewers`: how many watch the stream now. */
  tick(viewers: number): void {
    this.#unwatchedSince = viewers > 0 ? undefined : (this.#unwatchedSince ?? this.#options.timers.now());
    if (this.#past !== undefined && this.#options.timers.now() - this.#past.endedAt >= PAST_MS) this.#forgetPast();
    this.#apply({ kind: 'tick', unwatchedSince: this.#unwatchedSince });
  }

  /** Gives the stream up for a publisher elsewhere. Returns false if the present one is to be kept. */
  release(): boolean {
    return this.#apply({ kind: 'release' }).every((effect) => effect.kind !== 'refuse');
  }

  stop(): void {
    this.#apply({ kind: 'stop' });
  }

  #intake(id: number): Intake {
    return {
      take: (message) => this.#take(id, message),
      restart: () => {
        if (this.#state.holder?.id === id) this.#broadcast?.resume();
      },
      end: (isClean) => {
        this.#sides.delete(id);
        this.#apply({ kind: 'gone', holder: id, isClean });
      },
    };
  }

  #take(id: number, message: MediaMessage): void {
    const { holder } = this.#state;
    if (holder?.id !== id) return;
    if (message.kind === 'data' && !holder.hasMedia) {
      this.#metadata = message;
      return;
    }
    if (message.kind !== 'data')
      this.#apply({ kind: 'media', holder: id, broadcast: holder.hasMedia ? '' : this.#options.newBroadcastId() });
    this.#broadcast?.take(message);
  }

  #apply(event: StreamEvent): readonly StreamEffect[] {
    const { state, effects } = decideStream(this.#state, event, this.#options.timers.now(), this.#options.limits);
    // The state is set first: a holder that is cut reports at once that it is gone.
    this.#state = state;
    for (const effect of effects) this.#do(effect);
    if (effects.length > 0) this.#options.onChange();
    return effects;
  }

  #do(effect: StreamEffect): void {
    switch (effect.kind) {
      case 'cut':
        this.#cut(effect.holder, effect.reason);
        break;
      case 'began':
        this.#begin(effect.onAir);
        break;
      case 'resumed':
        this.#broadcast?.resume();
        this.#takeMetadata();
        break;
      case 'ended':
        this.#end(effect);
        break;
      case 'accept':
      case 'refuse':
      case 'broke':
        break; // reported to the caller and to the followers of the state
      default:
        unreachable(effect);
    }
  }

  #cut(holder: number, reason: CutReason): void {
    const side = this.#sides.get(holder);
    this.#sides.delete(holder);
    side?.cut(reason);
  }

  #begin({ broadcast, startedAt, source, address }: OnAir): void {
    const { timers, clock, toEpoch, onBegan, onEvent, name } = this.#options;
    const at = Math.round(toEpoch(startedAt));
    this.#past = undefined;
    this.#broadcast = new Broadcast({ id: broadcast, startedAt: at, timers, clock });
    this.#unwatchedSince = undefined;
    onBegan(this.#broadcast);
    onEvent({ ...name, broadcast, kind: 'began', at, source, address });
    this.#takeMetadata();
  }

  #forgetPast(): void {
    if (this.#past === undefined) return;
    this.#past = undefined;
    this.#options.onChange();
  }

  #takeMetadata(): void {
    if (this.#metadata !== undefined) this.#broadcast?.take(this.#metadata);
    this.#metadata = undefined;
  }

  #end({ broadcast, at, reason }: Extract<StreamEffect, { kind: 'ended' }>): void {
    const { toEpoch, onEnded, onEvent, name } = this.#options;
    const over = this.#broadcast;
    this.#broadcast = undefined;
    const isCut = CUTTING.includes(reason);
    if (over?.isPackaged === true && !isCut) this.#past = { broadcast: over, endedAt: this.#options.timers.now() };
    if (isCut) over?.cut();
    else over?.end();
    if (over !== undefined) onEnded(over);
    // The system's clock may have been set back, and is rounded: a broadcast never ends before it began.
    const endedAt = Math.max(over?.startedAt ?? 0, Math.round(toEpoch(at)));
    onEvent({ ...name, broadcast, kind: 'ended', at: endedAt, reason });
  }
}
