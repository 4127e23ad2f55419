/** The video samples of the open part. A sample is held until the next one arrives, which shows its duration. */
import type { Sample } from '../fmp4/fragment.ts';
import { VIDEO_TIME_SCALE } from '../fmp4/init-segment.ts';

const VIDEO_TICKS_PER_MS = VIDEO_TIME_SCALE / 1000;
/** A tenth of a millisecond: shortest duration, for frames with equal or decreasing timestamps. */
const MIN_DURATION = 9;
/** Longest duration of a sample. The decode time of the next fragment accounts for the rest of a longer gap. */
const MAX_DURATION = 10_000 * VIDEO_TICKS_PER_MS;
const USUAL_DURATION = 33 * VIDEO_TICKS_PER_MS;

export interface VideoFrame {
  readonly timestampMs: number;
  readonly compositionMs: number;
  readonly isKey: boolean;
  readonly data: Buffer;
}

export class VideoSamples {
  #ready: Sample[] = [];
  #held: Omit<Sample, 'duration'> | undefined;
  #lastDuration = USUAL_DURATION;
  /** Earliest decode time of the next sample. */
  #earliest = 0;
  #bytes = 0;

  /** Size of all samples that have not been taken. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Durations of the complete samples, in milliseconds. */
  get durationsMs(): readonly number[] {
    return this.#ready.map(({ duration }) => duration / VIDEO_TICKS_PER_MS);
  }

  /** Duration of the last complete sample, in milliseconds. */
  get lastDurationMs(): number {
    return this.#lastDuration / VIDEO_TICKS_PER_MS;
  }

  /** Earliest decode time of the next frame, in milliseconds. */
  get endMs(): number {
    return this.#earliest / VIDEO_TICKS_PER_MS;
  }

  /** Returns the decode time of the frame in milliseconds: its timestamp, or just after the previous frame. */
  add({ timestampMs, compositionMs, isKey, data }: VideoFrame): number {
    const stamped = timestampMs * VIDEO_TICKS_PER_MS;
    const decodeAt = Math.max(stamped, this.#earliest);
    // A frame whose decode time was moved keeps its presentation time, unless that is earlier.
    const shown = stamped + compositionMs * VIDEO_TICKS_PER_MS - decodeAt;
    const composition = compositionMs < 0 ? shown : Math.max(0, shown);
    this.#complete(decodeAt);
    this.#held = { decodeAt, composition, isKey, data };
    this.#earliest = decodeAt + MIN_DURATION;
    this.#bytes += data.length;
    return decodeAt / VIDEO_TICKS_PER_MS;
  }

  /** Completes the last sample: it lasts as long as the previous one, and at least until `untilMs`. Returns its end. */
  finish(untilMs = 0): number {
    if (this.#held !== undefined) {
      const endsAt = Math.max(this.#held.decodeAt + this.#lastDuration, Math.round(untilMs * VIDEO_TICKS_PER_MS));
      this.#complete(endsAt);
      this.#held = undefined;
      this.#earliest = endsAt;
    }
    return this.endMs;
  }

  hasBetween(fromMs: number, untilMs: number): boolean {
    const [from, until] = [fromMs * VIDEO_TICKS_PER_MS, untilMs * VIDEO_TICKS_PER_MS];
    return this.#ready.some(({ decodeAt }) => decodeAt >= from && decodeAt < until);
  }

  /** Removes and returns the complete samples that are decoded before `untilMs`. */
  take(untilMs: number): readonly Sample[] {
    const until = untilMs * VIDEO_TICKS_PER_MS;
    const taken = takeWhile(this.#ready, ({ decodeAt }) => decodeAt < until);
    this.#ready = taken.left;
    for (const { data } of taken.samples) this.#bytes -= data.length;
    return taken.samples;
  }

  /** Discards the samples that have not been taken; the next frame may have any timestamp. */
  clear(): void {
    this.#ready = [];
    this.#held = undefined;
    this.#earliest = 0;
    this.#bytes = 0;
  }

  #complete(nextAt: number): void {
    if (this.#held === undefined) return;
    const duration = Math.min(nextAt - this.#held.decodeAt, MAX_DURATION);
    this.#ready.push({ ...this.#held, duration });
    this.#lastDuration = duration;
  }
}

/** Splits samples at the first one that is not wanted. Avoids copying in the usual case that all are. */
export function takeWhile(
  samples: Sample[],
  isWanted: (sample: Sample) => boolean,
): { readonly samples: Sample[]; readonly left: Sample[] } {
  const end = samples.findIndex((sample) => !isWanted(sample));
  return end < 0 ? { samples, left: [] } : { samples: samples.slice(0, end), left: samples.slice(end) };
}
