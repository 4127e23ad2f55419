/**
 * Decides when parts and segments are cut, by the times of their samples. Pure; in milliseconds of the stream's clock.
 */

/** Shortest part, as a share of the part target, unless it is the last of its segment. RFC 8216bis §4.4.4.9 */
const MIN_PART_SHARE = 0.85;
/**
 * Nominal duration of a part. A stream's part target is a whole number of its frames near it. docs/decisions/0481 has
 * the figures.
 */
export const PART_MS = 200;
/** Media from which the part target is chosen: less than any part, and enough for frame rates from 5 on. */
const MEASURED_MS = 160;
/** Rounding error of a frame's duration, because timestamps are whole milliseconds. */
const ROUNDING_MS = 1;
/** A segment ends at the first key frame after `SEGMENT_MS`, and at the latest after `MAX_SEGMENT_MS`. */
export const SEGMENT_MS = 2_000;
export const MAX_SEGMENT_MS = 10_000;
/** Tolerance for key frames that arrive slightly early when their distance is the segment's length. */
const SEGMENT_TOLERANCE_MS = 50;

export function isSegmentLong(durationMs: number): boolean {
  return durationMs >= SEGMENT_MS - SEGMENT_TOLERANCE_MS;
}

/**
 * Whether a part ends before the next frame because another frame of the usual duration would exceed the target. If
 * parts may be cut within a frame, a part that is still short continues and is cut by the clock.
 */
export function isPartDue(durationMs: number, frameMs: number, partTargetMs: number, mayCutFrames: boolean): boolean {
  if (durationMs + frameMs <= partTargetMs) return false;
  return !mayCutFrames || durationMs >= partTargetMs * MIN_PART_SHARE;
}

/**
 * Chooses the part target by the durations of the frames so far; `undefined` if they are too few. It never changes
 * afterwards: players stop at a part that is longer than the announced target (RFC 8216bis §4.4.3.7).
 */
export function choosePartTarget(frameDurationsMs: readonly number[], mayCutFrames: boolean): number | undefined {
  const total = frameDurationsMs.reduce((sum, duration) => sum + duration, 0);
  if (total < MEASURED_MS) return undefined;
  const frameMs = median(frameDurationsMs);
  const frames = countFrames(frameMs);
  const targetMs = Math.ceil(frames * (frameMs + ROUNDING_MS));
  // With audio, a part may end within a frame, so a low frame rate does not make parts long.
  return mayCutFrames ? Math.min(targetMs, Math.ceil(PART_MS * 1.2)) : targetMs;
}

/** Returns the number of frames nearest to a part's nominal duration, at least one. */
export function countFrames(frameMs: number): number {
  return Math.max(1, Math.round(PART_MS / frameMs));
}

/** Predicts the target duration in seconds for key frames at this distance. */
export function predictTargetSeconds(keyFrameMs: number): number {
  const frames = Math.ceil((SEGMENT_MS - SEGMENT_TOLERANCE_MS) / keyFrameMs);
  const segmentMs = Math.min(MAX_SEGMENT_MS, keyFrameMs * Math.max(1, frames));
  return Math.max(SEGMENT_MS / 1000, Math.ceil((segmentMs - SEGMENT_TOLERANCE_MS) / 1000));
}

/** Returns the target duration that a segment requires: at least its rounded duration. RFC 8216bis §4.4.3.1 */
export function targetSecondsOf(segmentMs: number): number {
  return Math.max(SEGMENT_MS / 1000, Math.round(segmentMs / 1000));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? PART_MS;
}
