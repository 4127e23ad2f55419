/** Writes playlists of low-latency HLS: RFC 8216bis (HTTP Live Streaming, 2nd edition). */
import type { AudioFormat, VideoFormat } from '../fmp4/track-formats.ts';
import { initName, partName, segmentName } from './files.ts';
import type { Segment } from './window.ts';

/** Version that EXT-X-SKIP requires; no other tag here needs a higher one. */
const VERSION = 9;
/**
 * Target durations: parts are listed within three of the end; a hold-back is at least three, a skip boundary six.
 * §4.4.3.8
 */
const TARGETS_WITH_PARTS = 3;
const HOLD_BACK_TARGETS = 3;
const SKIP_TARGETS = 6;
/** Part targets of the part hold-back: at least two are required, three recommended. §4.4.3.8 */
const HOLD_BACK_PARTS = 3;

export interface MediaPlaylist {
  readonly segments: readonly Segment[];
  readonly discontinuitySequence: number;
  readonly targetSeconds: number;
  readonly partTargetMs: number;
  /** The part that comes next; `undefined` if the stream has ended. */
  readonly next: { readonly sequence: number; readonly part: number } | undefined;
}

/** Writes a media playlist. `maySkip`: segments before the skip boundary are left out (delta update, §6.2.5.1). */
export function writeMediaPlaylist(playlist: MediaPlaylist, maySkip: boolean): string {
  const { segments, targetSeconds, partTargetMs, next } = playlist;
  const skipped = maySkip ? countSkipped(segments, targetSeconds) : 0;
  const control = [
    'CAN-BLOCK-RELOAD=YES',
    `CAN-SKIP-UNTIL=${targetSeconds * SKIP_TARGETS}`,
    `HOLD-BACK=${targetSeconds * HOLD_BACK_TARGETS}`,
    `PART-HOLD-BACK=${seconds(partTargetMs * HOLD_BACK_PARTS)}`,
  ];
  const lines = [
    '#EXTM3U',
    `#EXT-X-VERSION:${VERSION}`,
    `#EXT-X-TARGETDURATION:${targetSeconds}`,
    `#EXT-X-SERVER-CONTROL:${control.join(',')}`,
    `#EXT-X-PART-INF:PART-TARGET=${seconds(partTargetMs)}`,
    `#EXT-X-MEDIA-SEQUENCE:${segments[0]?.sequence ?? next?.sequence ?? 0}`,
    `#EXT-X-DISCONTINUITY-SEQUENCE:${playlist.discontinuitySequence}`,
  ];
  if (skipped > 0) lines.push(`#EXT-X-SKIP:SKIPPED-SEGMENTS=${skipped}`);
  const withParts = firstWithParts(segments, targetSeconds);
  for (const [index, segment] of segments.entries()) {
    if (index >= skipped) lines.push(...segmentLines(segment, segments[index - 1], index >= withParts));
  }
  if (next === undefined) lines.push('#EXT-X-ENDLIST');
  else lines.push(`#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${partName(next.sequence, next.part)}"`);
  return `${lines.join('\n')}\n`;
}

function segmentLines(segment: Segment, before: Segment | undefined, withParts: boolean): string[] {
  const { sequence, parts, durationMs } = segment;
  const lines: string[] = [];
  if (segment.isDiscontinuity) lines.push('#EXT-X-DISCONTINUITY');
  if (segment.init !== before?.init || segment.isDiscontinuity)
    lines.push(`#EXT-X-MAP:URI="${initName(segment.init)}"`);
  const beganAt = new Date(Math.round(segment.clock.offsetMs + segment.startMs));
  lines.push(`#EXT-X-PROGRAM-DATE-TIME:${beganAt.toISOString()}`);
  for (const [index, part] of withParts ? parts.entries() : []) {
    const independent = part.isIndependent ? ',INDEPENDENT=YES' : '';
    lines.push(`#EXT-X-PART:DURATION=${seconds(part.durationMs)},URI="${partName(sequence, index)}"${independent}`);
  }
  if (segment.isComplete) lines.push(`#EXTINF:${seconds(durationMs)},`, segmentName(sequence));
  return lines;
}

/** Returns the index of the first segment that ends within three target durations of the playlist's end. */
function firstWithParts(segments: readonly Segment[], targetSeconds: number): number {
  return segments.findIndex((_, index) => msBehind(segments, index) < targetSeconds * TARGETS_WITH_PARTS * 1000);
}

/** Counts the segments that end before the skip boundary; all of them are complete. */
function countSkipped(segments: readonly Segment[], targetSeconds: number): number {
  const boundaryMs = targetSeconds * SKIP_TARGETS * 1000;
  const first = segments.findIndex((_, index) => msBehind(segments, index) < boundaryMs);
  return Math.max(0, first);
}

/** Returns the duration of the playlist after the segment. */
function msBehind(segments: readonly Segment[], index: number): number {
  return segments.slice(index + 1).reduce((sum, { durationMs }) => sum + durationMs, 0);
}

export interface Variant {
  readonly video: VideoFormat | undefined;
  readonly audio: AudioFormat | undefined;
  readonly segments: readonly Segment[];
}

/** Writes the playlist of the only variant. `mediaUri` is the media playlist's address relative to this one. */
export function writeMultivariantPlaylist({ video, audio, segments }: Variant, mediaUri: string): string {
  const codecs = [video?.codec, audio?.codec].filter((codec) => codec !== undefined);
  const measured = measure(segments);
  const frameRate = video?.frameRate ?? measured.frameRate;
  const attributes = [
    `BANDWIDTH=${Math.max(1, measured.peak)}`,
    `AVERAGE-BANDWIDTH=${Math.max(1, measured.average)}`,
    `CODECS="${codecs.join(',')}"`,
    ...(video === undefined ? [] : [`RESOLUTION=${video.width}x${video.height}`]),
    ...(video === undefined || frameRate === 0 ? [] : [`FRAME-RATE=${frameRate.toFixed(3)}`]),
  ];
  const lines = ['#EXTM3U', `#EXT-X-VERSION:${VERSION}`, `#EXT-X-STREAM-INF:${attributes.join(',')}`, mediaUri];
  return `${lines.join('\n')}\n`;
}

/** Measures bits and frames per second of the complete segments, or of the open one if there are none. */
function measure(segments: readonly Segment[]): { peak: number; average: number; frameRate: number } {
  const complete = segments.filter(({ isComplete, durationMs }) => isComplete && durationMs > 0);
  const measured = (complete.length > 0 ? complete : segments).map(({ parts, durationMs }) => ({
    durationMs,
    bits: parts.reduce((sum, { bytes }) => sum + bytes.length * 8, 0),
    frames: parts.reduce((sum, { videoFrames }) => sum + videoFrames, 0),
  }));
  const total = { durationMs: 0, bits: 0, frames: 0 };
  for (const one of measured) {
    total.durationMs += one.durationMs;
    total.bits += one.bits;
    total.frames += one.frames;
  }
  return {
    peak: Math.max(0, ...measured.map((one) => perSecond(one.bits, one.durationMs))),
    average: perSecond(total.bits, total.durationMs),
    frameRate: total.durationMs === 0 ? 0 : (total.frames * 1000) / total.durationMs,
  };
}

function perSecond(bits: number, durationMs: number): number {
  return durationMs === 0 ? 0 : Math.ceil((bits * 1000) / durationMs);
}

/** Formats seconds to a hundredth of a millisecond, finer than any clock here. */
function seconds(ms: number): string {
  return (ms / 1000).toFixed(5);
}
