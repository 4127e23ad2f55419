/**
 * Brings a publisher's timestamps onto the broadcast's own clock, which begins at 0, never goes back within a track and does not wrap.
 * What publishers do wrong is repaired, never a reason to end a broadcast: jumps, steps back, another publisher that begins anew.
 */
import type { MediaFacts } from './describe.ts';
import type { MediaMessage } from './message.ts';

/** A step within a track that is longer, and longer than the time that really passed, is a jump of the publisher's clock. */
const MAX_STEP_MS = 3_000;
/** A step back that is shorter is disorder: the timestamp waits until the clock has caught up. Beyond it the clock was set back. */
const MAX_DISORDER_MS = 500;
/** How far apart the first frames of two tracks may be. */
const MAX_TRACK_START_MS = 10_000;
/**
 * Longest step assumed after a jump: the frame follows its predecessor at the distance of the step before, capped at
 * this.
 */
const MAX_ASSUMED_STEP_MS = 100;

interface Track {
  /** The publisher's timestamp of the last frame, 32 bits, and what it became. */
  rawMs: number;
  positionMs: number;
  stepMs: number;
  seenAt: number;
}

type TrackKind = 'audio' | 'video';

export class Timeline {
  readonly #tracks: { audio: Track | undefined; video: Track | undefined } = { audio: undefined, video: undefined };
  /** Where the publisher of the moment began. */
  #startMs = 0;
  /** The latest position of all tracks. */
  #headMs = 0;
  #repairs = 0;

  /** How many timestamps did not follow from the publisher's clock. */
  get repairs(): number {
    return this.#repairs;
  }

  /** The latest position given, in milliseconds. */
  get headMs(): number {
    return this.#headMs;
  }

  /** The message with its place on the broadcast's clock. `now` is of a clock that never goes back, in milliseconds. */
  place(message: MediaMessage, facts: MediaFacts, now: number): MediaMessage {
    const { kind, data } = message;
    const isFrame = kind !== 'data' && !facts.isSequenceHeader && !facts.isIgnored;
    const timestampMs = isFrame
      ? this.#placeFrame(kind, message.timestampMs, now)
      : this.#placeBeside(kind, message.timestampMs);
    return { kind, timestampMs, data };
  }

  /** Another publisher goes on with the broadcast: its clock begins behind what has been placed, without a gap. */
  restart(): void {
    const steps = [this.#tracks.audio?.stepMs ?? 0, this.#tracks.video?.stepMs ?? 0];
    this.#startMs = this.#headMs + Math.max(...steps);
    this.#headMs = this.#startMs;
    this.#tracks.audio = undefined;
    this.#tracks.video = undefined;
  }

  #placeFrame(kind: TrackKind, rawMs: number, now: number): number {
    const other = this.#tracks[kind === 'audio' ? 'video' : 'audio'];
    const track = this.#tracks[kind];
    if (track === undefined) {
      const positionMs = this.#firstPosition(rawMs, other);
      this.#tracks[kind] = { rawMs, positionMs, stepMs: kind === 'audio' ? 20 : 33, seenAt: now };
      return this.#advance(positionMs);
    }
    const stepMs = (rawMs - track.rawMs) | 0;
    if (stepMs < 0 && stepMs >= -MAX_DISORDER_MS) {
      this.#repairs++;
      return track.positionMs;
    }
    const positionMs = this.#nextPosition(track, other, rawMs, now);
    if (positionMs > track.positionMs) track.stepMs = Math.min(positionMs - track.positionMs, MAX_ASSUMED_STEP_MS);
    track.rawMs = rawMs;
    track.positionMs = positionMs;
    track.seenAt = now;
    return this.#advance(positionMs);
  }

  #firstPosition(rawMs: number, other: Track | undefined): number {
    if (other === undefined) return this.#startMs;
    const positionMs = follow(other, rawMs);
    const isNear = positionMs >= this.#startMs - MAX_STEP_MS && positionMs <= this.#headMs + MAX_TRACK_START_MS;
    if (isNear && positionMs >= this.#startMs) return positionMs;
    this.#repairs++;
    return isNear ? this.#startMs : this.#headMs;
  }

  #nextPosition(track: Track, other: Track | undefined, rawMs: number, now: number): number {
    const positionMs = follow(track, rawMs);
    if (isStep(positionMs - track.positionMs, Math.max(0, now - track.seenAt))) return positionMs;
    this.#repairs++;
    // When both tracks jump, the second one follows the first: they stay as far apart as they were.
    const besideOther = other === undefined ? Number.NaN : follow(other, rawMs);
    if (isStep(besideOther - track.positionMs, 0)) return besideOther;
    return track.positionMs + track.stepMs;
  }

  /** Configurations and data do not move the clock: some publishers stamp them with 0 whenever they send them. */
  #placeBeside(kind: MediaMessage['kind'], rawMs: number): number {
    const track = kind === 'data' ? (this.#tracks.video ?? this.#tracks.audio) : this.#tracks[kind];
    if (track === undefined) return this.#startMs;
    const positionMs = follow(track, rawMs);
    return positionMs >= track.positionMs && positionMs <= this.#headMs ? positionMs : track.positionMs;
  }

  #advance(positionMs: number): number {
    this.#headMs = Math.max(this.#headMs, positionMs);
    return positionMs;
  }
}

/** Where the timestamp lies by the clock of a track; the difference is that of 32 bits which wrap. */
function follow(track: Track, rawMs: number): number {
  return track.positionMs + ((rawMs - track.rawMs) | 0);
}

function isStep(stepMs: number, passedMs: number): boolean {
  return stepMs >= 0 && stepMs <= MAX_STEP_MS + passedMs;
}
