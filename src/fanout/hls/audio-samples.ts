/**
 * The audio samples of the part that is being made, on a clock that counts samples: timestamps of whole milliseconds would leave gaps and
 * overlaps that are heard at 44.1 kHz. The timestamps are followed when the two have come apart.
 */
import type { Sample } from '../fmp4/fragment.ts';
import type { AudioFormat } from '../fmp4/track-formats.ts';
import { takeWhile } from './video-samples.ts';

/** Jitter of timestamps is less, and a viewer hears no such distance between sound and picture. */
const MAX_DRIFT_MS = 100;

/** A sample is made no longer: behind a longer hole the next fragment says where it stands. */
const MAX_STRETCH_SECONDS = 60;

/** `ahead`: the clock is ahead of the timestamps by too much; the frame is left out. `gap`: the timestamps went ahead. */
export type Added = 'added' | 'gap' | 'ahead' | 'unreadable';

export class AudioSamples {
  readonly #format: AudioFormat;
  readonly #ticksPerMs: number;
  readonly #holdsLast: boolean;
  #ready: Sample[] = [];
  #held: Sample | undefined;
  #nextAt: number | undefined;
  #isCatchingUp = false;
  #bytes = 0;

  /** `holdsLast`: the last sample waits for the next one, and can be made longer until then. */
  constructor(format: AudioFormat, { holdsLast }: { holdsLast: boolean }) {
    this.#format = format;
    this.#holdsLast = holdsLast;
    this.#ticksPerMs = format.sampleRate / 1000;
  }

  /** Size of all samples that have not been taken. */
  get bytes(): number {
    return this.#bytes;
  }

  /** When the last sample ends, in milliseconds; 0 before the first. */
  get endMs(): number {
    return (this.#nextAt ?? 0) / this.#ticksPerMs;
  }

  /** Up to here, in milliseconds, samples can be taken; 0 before the first. */
  get readyMs(): number {
    return (this.#held?.decodeAt ?? this.#nextAt ?? 0) / this.#ticksPerMs;
  }

  /** How long the first sample lasts, in milliseconds; 0: there is none. */
  get frameMs(): number {
    return (this.#ready[0]?.duration ?? 0) / this.#ticksPerMs;
  }

  /** Follows `Added`; a gap is only said when samples went before it. */
  add(timestampMs: number, data: Buffer): Added {
    const duration = this.#format.frameSamples(data);
    if (duration === 0) return 'unreadable';
    const stamped = Math.round(timestampMs * this.#ticksPerMs);
    const before = this.#nextAt;
    const drift = before === undefined ? 0 : stamped - before;
    if (this.#isTooFarAhead(drift)) return 'ahead';
    const isGap = drift > MAX_DRIFT_MS * this.#ticksPerMs;
    const decodeAt = before === undefined || isGap ? stamped : before;
    if (isGap) this.#stretch(drift);
    this.#release();
    this.#held = { decodeAt, duration, composition: 0, isKey: true, data };
    if (!this.#holdsLast) this.#release();
    this.#nextAt = decodeAt + duration;
    this.#bytes += data.length;
    return isGap ? 'gap' : 'added';
  }

  /** No frame follows: the last one lasts until `untilMs`, when it has not been taken. */
  finish(untilMs: number): void {
    const missing = Math.round(untilMs * this.#ticksPerMs) - (this.#nextAt ?? 0);
    if (missing > 0) this.#stretch(missing);
    this.#release();
  }

  hasBetween(fromMs: number, untilMs: number): boolean {
    const [from, until] = [fromMs * this.#ticksPerMs, untilMs * this.#ticksPerMs];
    return this.#ready.some(({ decodeAt }) => decodeAt >= from && decodeAt < until);
  }

  /** The samples that begin before `untilMs`. */
  take(untilMs: number): readonly Sample[] {
    const until = untilMs * this.#ticksPerMs;
    const taken = takeWhile(this.#ready, ({ decodeAt }) => decodeAt < until);
    this.#ready = taken.left;
    for (const { data } of taken.samples) this.#bytes -= data.length;
    return taken.samples;
  }

  /** Once too far ahead, frames are left out until the timestamps have caught up: one hole instead of many. */
  #isTooFarAhead(drift: number): boolean {
    if (drift >= 0) this.#isCatchingUp = false;
    else if (drift < -MAX_DRIFT_MS * this.#ticksPerMs) this.#isCatchingUp = true;
    return this.#isCatchingUp;
  }

  /** Lengthens the last sample to cover a gap: within a fragment, only durations position the next sample. */
  #stretch(ticks: number): void {
    const last = this.#held ?? this.#ready.at(-1);
    if (last === undefined) return;
    const duration = last.duration + Math.min(ticks, MAX_STRETCH_SECONDS * this.#format.sampleRate);
    if (this.#held === undefined) this.#ready[this.#ready.length - 1] = { ...last, duration };
    else this.#held = { ...last, duration };
  }

  #release(): void {
    if (this.#held !== undefined) this.#ready.push(this.#held);
    this.#held = undefined;
  }
}
