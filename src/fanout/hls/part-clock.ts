/** When parts and segments are cut, from the times of their samples. Pure: everything is in milliseconds of the stream's clock. */

/** RFC 8216bis §4.4.4.9: a part that is not the last of its segment lasts at least so much of the part target. */
const MIN_PART_SHARE = 0.85;
/**
 * The nominal part duration; a stream's part target is a whole number of its frames near it. docs/decisions/0481 has
 * the figures.
 */
export const PART_MS = 200;
/** The target is chosen when so much is there, less than any part: any frame rate from 5 on shows itself. */
const MEASURED_MS = 160;
/** Timestamps are whole milliseconds: a frame's duration is up to one more than it is. */
const ROUNDING_MS = 1;
/** A segment ends at the first key frame from here on, and at the latest there. */
export const SEGMENT_MS = 2_000;
export const MAX_SEGMENT_MS = 10_000;
/** A key frame comes this much early when the distance of key frames is the segment's length. */
const SEGMENT_TOLERANCE_MS = 50;

export function isSegmentLong(durationMs: number): boolean {
  return durationMs >= SEGMENT_MS - SEGMENT_TOLERANCE_MS;
}

/**
 * Whether a part ends before the next frame, because another frame of the usual duration would be too much for it. Where parts may be
 * cut within a frame, one that is short yet goes on, and is cut by the clock.
 */
export function isPartDue(durationMs: number, frameMs: number, partTargetMs: number, mayCutFrames: boolean): boolean {
  if (durationMs + frameMs <= partTargetMs) return false;
  return !mayCutFrames || durationMs >= partTargetMs * MIN_PART_SHARE;
}

/**
 * The part target, from the durations of the frames so far; `undefined`: not enough of them. It never changes afterwards: players
 * stop at a part that is longer than the target they were told (RFC 8216bis §4.4.3.7).
 */
export function choosePartTarget(frameDurationsMs: readonly number[], mayCutFrames: boolean): number | undefined {
  const total = frameDurationsMs.reduce((sum, duration) => sum + duration, 0);
  if (total < MEASURED_MS) return undefined;
  const frameMs = median(frameDurationsMs);
  const frames = countFrames(frameMs);
  const targetMs = Math.ceil(frames * (frameMs + ROUNDING_MS));
  // With audio a part may end within a frame, so a slow picture does not make parts long.
  return mayCutFrames ? Math.min(targetMs, Math.ceil(PART_MS * 1.2)) : targetMs;
}

/** How many frames make a part: the nearest number, at least one. */
export function countFrames(frameMs: number): number {
  return Math.max(1, Math.round(PART_MS / frameMs));
}

/** The target duration in seconds that a stream with key frames at this distance needs. */
export function predictTargetSeconds(keyFrameMs: number): number {
  const frames = Math.ceil((SEGMENT_MS - SEGMENT_TOLERANCE_MS) / keyFrameMs);
  const segmentMs = Math.min(MAX_SEGMENT_MS, keyFrameMs * Math.max(1, frames));
  return Math.max(SEGMENT_MS / 1000, Math.ceil((segmentMs - SEGMENT_TOLERANCE_MS) / 1000));
}

/** RFC 8216bis §4.4.3.1: a segment's duration, rounded, is at most the target duration. */
export function targetSecondsOf(segmentMs: number): number {
  return Math.max(SEGMENT_MS / 1000, Math.round(segmentMs / 1000));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? PART_MS;
}
