/**
 * Maps a publisher's timestamps to the broadcast's own clock, which begins at 0, never goes back within a track and
 * does not wrap. Jumps, steps back and publishers that start again are repaired and never end a broadcast.
 */
import type { MediaFacts } from './describe.ts';
import type { MediaMessage } from './message.ts';

/** A longer step within a track, unless that time has really passed, is a jump of the publisher's clock. */
const MAX_STEP_MS = 3_000;
/**
 * Longest step back that counts as disorder: the position stays until the timestamps catch up. A longer one is a clock
 * set back.
 */
const MAX_DISORDER_MS = 500;
/** Longest distance between the first frames of two tracks. */
const MAX_TRACK_START_MS = 10_000;
/**
 * Longest step assumed after a jump, where a frame follows its predecessor at the distance of the previous step.
 */
const MAX_ASSUMED_STEP_MS = 100;

interface Track {
  /** The publisher's timestamp of the last frame, 32 bits, and its position on the broadcast's clock. */
  rawMs: number;
  positionMs: number;
  stepMs: number;
  seenAt: number;
}

type TrackKind = 'audio' | 'video';

export class Timeline {
  readonly #tracks: { audio: Track | undefined; video: Track | undefined } = { audio: undefined, video: undefined };
  /** Start of the current publisher. */
  #startMs = 0;
  /** Latest position of all tracks. */
  #headMs = 0;
  #repairs = 0;

  /** Number of timestamps that were repaired. */
  get repairs(): number {
    return this.#repairs;
  }

  /** Returns the message with its timestamp on the broadcast's clock. `now`: milliseconds of a monotonic clock. */
  place(message: MediaMessage, facts: MediaFacts, now: number): MediaMessage {
    const { kind, data } = message;
    const isFrame = kind !== 'data' && !facts.isSequenceHeader && !facts.isIgnored;
    const timestampMs = isFrame
      ? this.#placeFrame(kind, message.timestampMs, now)
      : this.#placeBeside(kind, message.timestampMs);
    return { kind, timestampMs, data };
  }

  /** Called when another publisher continues the broadcast: its clock begins right after the latest position. */
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
    // If both tracks jump, the second one follows the first, so that their distance is kept.
    const besideOther = other === undefined ? Number.NaN : follow(other, rawMs);
    if (isStep(besideOther - track.positionMs, 0)) return besideOther;
    return track.positionMs + track.stepMs;
  }

  /** Places configurations and data, which do not move the clock: some publishers always stamp them with 0. */
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

/** Returns the position of a timestamp by the clock of a track; the difference wraps at 32 bits. */
function follow(track: Track, rawMs: number): number {
  return track.positionMs + ((rawMs - track.rawMs) | 0);
}

function isStep(stepMs: number, passedMs: number): boolean {
  return stepMs >= 0 && stepMs <= MAX_STEP_MS + passedMs;
}
