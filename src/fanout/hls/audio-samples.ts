/**
 * The audio samples of the open part, on a clock that counts samples: timestamps of whole milliseconds would leave
 * audible gaps and overlaps at 44.1 kHz. The clock is set to the timestamps again when both have drifted apart.
 */
import type { Sample } from '../fmp4/fragment.ts';
import type { AudioFormat } from '../fmp4/track-formats.ts';
import { takeWhile } from './video-samples.ts';

/** Tolerated drift: more than the jitter of timestamps, and not noticeable between sound and picture. */
const MAX_DRIFT_MS = 100;

/** Longest time by which a sample is lengthened. After a longer gap, the next fragment's own time counts. */
const MAX_STRETCH_SECONDS = 60;

/**
 * `ahead`: the clock is too far ahead of the timestamps, so the frame is left out. `gap`: the timestamps jumped ahead.
 */
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

  /** `holdsLast`: the last sample is held until the next one arrives, so that it can be lengthened. */
  constructor(format: AudioFormat, { holdsLast }: { holdsLast: boolean }) {
    this.#format = format;
    this.#holdsLast = holdsLast;
    this.#ticksPerMs = format.sampleRate / 1000;
  }

  /** Size of all samples that have not been taken. */
  get bytes(): number {
    return this.#bytes;
  }

  /** End of the last sample, in milliseconds; 0 before the first. */
  get endMs(): number {
    return (this.#nextAt ?? 0) / this.#ticksPerMs;
  }

  /** Time up to which samples can be taken, in milliseconds; 0 before the first. */
  get readyMs(): number {
    return (this.#held?.decodeAt ?? this.#nextAt ?? 0) / this.#ticksPerMs;
  }

  /** Duration of the first sample, in milliseconds; 0 if there is none. */
  get frameMs(): number {
    return (this.#ready[0]?.duration ?? 0) / this.#ticksPerMs;
  }

  /** Adds a frame. A gap before the first sample is not reported. */
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

  /** Ends the samples: the last one is lengthened up to `untilMs`, unless it was taken already. */
  finish(untilMs: number): void {
    const missing = Math.round(untilMs * this.#ticksPerMs) - (this.#nextAt ?? 0);
    if (missing > 0) this.#stretch(missing);
    this.#release();
  }

  hasBetween(fromMs: number, untilMs: number): boolean {
    const [from, until] = [fromMs * this.#ticksPerMs, untilMs * this.#ticksPerMs];
    return this.#ready.some(({ decodeAt }) => decodeAt >= from && decodeAt < until);
  }

  /** Removes and returns the samples that begin before `untilMs`. */
  take(untilMs: number): readonly Sample[] {
    const until = untilMs * this.#ticksPerMs;
    const taken = takeWhile(this.#ready, ({ decodeAt }) => decodeAt < until);
    this.#ready = taken.left;
    for (const { data } of taken.samples) this.#bytes -= data.length;
    return taken.samples;
  }

  /** Once the clock is too far ahead, frames are left out until the timestamps catch up: one gap instead of many. */
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
