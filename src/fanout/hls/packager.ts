/**
 * Packages one stream as low-latency HLS: cuts its messages into parts and segments. Faults of publishers are repaired
 * or left out and never end it. Without clock or timer: `now` is passed in. docs/decisions/0481
 */
import { writeFragment } from '../fmp4/fragment.ts';
import { type Formats, initSegment } from '../fmp4/init-segment.ts';
import type { MediaFacts } from '../media/describe.ts';
import type { MediaMessage } from '../media/message.ts';
import { AudioSamples } from './audio-samples.ts';
import {
  choosePartTarget,
  countFrames,
  isPartDue,
  isSegmentLong,
  MAX_SEGMENT_MS,
  PART_MS,
  predictTargetSeconds,
  SEGMENT_MS,
  targetSecondsOf,
} from './part-clock.ts';
import { Tracks } from './tracks.ts';
import { VideoSamples } from './video-samples.ts';
import { HlsWindow, type WallClock } from './window.ts';

/** Lag of video behind audio at which video counts as stopped, and parts continue without it. */
const MAX_VIDEO_LAG_MS = 3_000;
/**
 * How long a part waits for its audio, measured in video, because audio arrives after the video of the same time. If a
 * segment's audio ended before its video, hls.js would load the segment's parts repeatedly and fall seconds behind.
 * docs/decisions/0516
 */
const MAX_AUDIO_WAIT_MS = 120;
/** Lag of audio beyond which a part does not wait for it. */
const MAX_AUDIO_LAG_MS = 1_000;
/** Sizes at which a part or segment is cut at once, because a publisher's timestamps may stand still. */
const MAX_PART_BYTES = 16 * 1024 * 1024;
const MAX_SEGMENT_BYTES = 32 * 1024 * 1024;
const MAX_WINDOW_BYTES = 128 * 1024 * 1024;
const LISTED_SEGMENTS = 6;
const UNLISTED_SEGMENTS = 1;

export interface PackagerOptions {
  /**
   * Longest observed distance between key frames; `undefined`: unknown, so the first segment sets the target duration.
   */
  readonly keyFrameMs?: number | undefined;
}

/** State of packaging since the last break: the tracks, and the start of the open part and segment. */
interface Run {
  readonly formats: Formats;
  readonly init: number;
  readonly clock: WallClock;
  readonly audio: AudioSamples | undefined;
  partStartMs: number;
  segmentStartMs: number;
  segmentBytes: number;
  /** End of the open part, which is cut as soon as its audio has arrived. */
  due: { readonly untilMs: number; readonly endsSegment: boolean } | undefined;
}

export class HlsPackager {
  readonly window = new HlsWindow({
    listedSegments: LISTED_SEGMENTS,
    unlistedSegments: UNLISTED_SEGMENTS,
    maxBytes: MAX_WINDOW_BYTES,
  });
  readonly #tracks = new Tracks();
  readonly #video = new VideoSamples();
  #run: Run | undefined;
  #formats: Formats = { video: undefined, audio: undefined };
  #partTargetMs: number | undefined;
  #targetSeconds: number | undefined;
  #fragments = 0;
  #isEnded = false;

  constructor({ keyFrameMs }: PackagerOptions = {}) {
    if (keyFrameMs !== undefined && keyFrameMs > 0) this.#targetSeconds = predictTargetSeconds(keyFrameMs);
  }

  /** The formats of the tracks that were packaged last. */
  get formats(): Formats {
    return this.#formats;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get bytesHeld(): number {
    return this.window.bytesHeld + this.#video.bytes + (this.#run?.audio?.bytes ?? 0);
  }

  /** Milliseconds; never changes once a playlist has it. `undefined` while no playlist can be written. */
  get partTargetMs(): number | undefined {
    return this.window.newest === undefined ? undefined : this.#partTargetMs;
  }

  /** Whole seconds; grows if key frames turn out to be further apart. `undefined` while no playlist can be written. */
  get targetSeconds(): number | undefined {
    return this.#targetSeconds;
  }

  /**
   * Takes a message on the broadcast's clock (`media/timeline.ts`). `now`: epoch milliseconds. Ignored after the end.
   */
  push(message: MediaMessage, facts: MediaFacts, now: number): void {
    if (this.#isEnded || message.kind === 'data' || facts.isIgnored) return;
    if (this.#tracks.take(message, facts)) this.#break();
    if (facts.isSequenceHeader || !this.#tracks.isConfigured(message.kind, facts.codec)) return;
    const payload = message.data.subarray(facts.payloadOffset);
    if (message.kind === 'audio' && this.#isPaused(message.timestampMs)) this.#break();
    const run = this.#run ?? this.#begin(message, facts, payload, now);
    if (run === undefined) return;
    if (!run.clock.isFixed) run.clock.offsetMs = Math.min(run.clock.offsetMs, now - message.timestampMs);
    if (message.kind === 'video') this.#takeVideo(run, message, facts, payload);
    else this.#takeAudio(run, message.timestampMs, payload);
  }

  /** Called when another publisher continues the broadcast, with its own configurations. */
  discontinuity(): void {
    this.#break();
    this.#tracks.clear();
  }

  /** Ends the stream. Its files remain, and the playlist has its end mark. */
  end(): void {
    this.#break();
    this.#partTargetMs ??= PART_MS;
    this.#isEnded = true;
    this.window.wake();
  }

  /** Drops all media. The next messages start again, with the numbers continued. */
  suspend(): void {
    this.#break();
    this.#tracks.clear();
    this.window.clear();
  }

  /** Begins a run at a key frame, or at any audio frame if there is no video. */
  #begin(message: MediaMessage, facts: MediaFacts, payload: Buffer, now: number): Run | undefined {
    const isVideo = message.kind === 'video';
    if (isVideo ? !facts.isKeyFrame : this.#tracks.hasVideo) return undefined;
    const formats = this.#tracks.readFormats(isVideo ? payload : undefined);
    if (isVideo && formats.video === undefined) this.#tracks.leaveOutVideo();
    if (formats.video === undefined && (isVideo || formats.audio === undefined)) return undefined;
    this.#formats = formats;
    const startMs = message.timestampMs;
    this.#run = {
      formats,
      init: this.window.addInit(initSegment(formats)),
      clock: { offsetMs: now - startMs, isFixed: false },
      audio: formats.audio && new AudioSamples(formats.audio, { holdsLast: formats.video !== undefined }),
      partStartMs: startMs,
      segmentStartMs: startMs,
      segmentBytes: 0,
      due: undefined,
    };
    return this.#run;
  }

  /** Whether an audio-only stream has a gap in which a part would have no sample. */
  #isPaused(timestampMs: number): boolean {
    const { formats, audio } = this.#run ?? {};
    return formats?.video === undefined && audio !== undefined && timestampMs - audio.endMs > 2 * PART_MS;
  }

  #takeVideo(run: Run, { timestampMs }: MediaMessage, facts: MediaFacts, data: Buffer): void {
    if (run.formats.video === undefined) return;
    const { compositionMs, isKeyFrame: isKey } = facts;
    const nowMs = this.#video.add({ timestampMs, compositionMs, isKey, data });
    this.#partTargetMs ??= choosePartTarget(this.#video.durationsMs, run.audio !== undefined);
    if (this.#partTargetMs !== undefined) this.#cutAtFrame(run, nowMs, isKey, this.#partTargetMs);
    this.#cutBySize(run, nowMs);
  }

  /** Cuts before the frame decoded at `nowMs`: the part if another frame might not fit, the segment if it is due. */
  #cutAtFrame(run: Run, nowMs: number, isKey: boolean, partTargetMs: number): void {
    if (!isKey && isAudioAwaited(run, nowMs)) return;
    this.#cutDue(run);
    const segmentMs = nowMs - run.segmentStartMs;
    this.#cutTo(run, nowMs, partTargetMs);
    const endsSegment = (isKey && isSegmentLong(segmentMs)) || segmentMs >= MAX_SEGMENT_MS;
    const { lastDurationMs } = this.#video;
    if (!endsSegment && !isPartDue(nowMs - run.partStartMs, lastDurationMs, partTargetMs, run.audio !== undefined))
      return;
    run.due = { untilMs: nowMs, endsSegment };
    if (!isAudioAwaited(run, nowMs)) this.#cutDue(run);
  }

  #cutDue(run: Run): void {
    const { due } = run;
    if (due === undefined) return;
    run.due = undefined;
    if (due.endsSegment) this.#cutSegment(run, due.untilMs);
    else this.#cutPart(run, due.untilMs);
  }

  #takeAudio(run: Run, timestampMs: number, data: Buffer): void {
    const { audio, formats } = run;
    if (audio === undefined) return;
    const added = audio.add(timestampMs, data);
    if (added === 'unreadable' || added === 'ahead') return;
    const { endMs } = audio;
    if (formats.video !== undefined) {
      if (run.due !== undefined && audio.readyMs >= run.due.untilMs) this.#cutDue(run);
      if (endMs - this.#video.endMs > MAX_VIDEO_LAG_MS) this.#goOnWithoutVideo(run, endMs);
    } else this.#cutAudioOnly(run, audio, endMs);
    this.#cutBySize(run, endMs);
  }

  #cutAudioOnly(run: Run, audio: AudioSamples, endMs: number): void {
    const { frameMs } = audio;
    this.#partTargetMs ??= Math.ceil(countFrames(frameMs) * frameMs);
    this.#targetSeconds ??= SEGMENT_MS / 1000;
    this.#cutTo(run, endMs, this.#partTargetMs);
    if (endMs + frameMs - run.partStartMs <= this.#partTargetMs) return;
    this.#cutPart(run, endMs);
    if (isSegmentLong(endMs - run.segmentStartMs)) this.#cutSegment(run, endMs);
  }

  #goOnWithoutVideo(run: Run, endMs: number): void {
    this.#cutDue(run);
    this.#video.finish();
    this.#partTargetMs ??= PART_MS;
    this.#cutTo(run, endMs, this.#partTargetMs);
    if (endMs - run.segmentStartMs >= MAX_SEGMENT_MS) this.#cutSegment(run, endMs);
  }

  /** Cuts by the clock while more than a part lies before `untilMs`, as after a long frame. */
  #cutTo(run: Run, untilMs: number, partTargetMs: number): void {
    while (untilMs - run.partStartMs > partTargetMs) {
      const boundaryMs = run.partStartMs + partTargetMs;
      const isLast = untilMs - boundaryMs <= partTargetMs;
      const hasNext = isLast || this.#hasBetween(run, boundaryMs, boundaryMs + partTargetMs);
      if (!hasNext || !this.#hasBetween(run, Number.NEGATIVE_INFINITY, boundaryMs)) {
        // A part needs a sample, so a pause of all tracks is one long part.
        this.#cutPart(run, untilMs);
        return;
      }
      this.#cutPart(run, boundaryMs);
    }
  }

  #hasBetween(run: Run, fromMs: number, untilMs: number): boolean {
    return this.#video.hasBetween(fromMs, untilMs) || run.audio?.hasBetween(fromMs, untilMs) === true;
  }

  #cutBySize(run: Run, nowMs: number): void {
    const bytes = this.#video.bytes + (run.audio?.bytes ?? 0);
    if (bytes > MAX_PART_BYTES) this.#cutDue(run);
    if (bytes > MAX_PART_BYTES) this.#cutPart(run, nowMs);
    // Frames before the open part cannot be placed in any part.
    if (bytes > MAX_PART_BYTES && nowMs < run.partStartMs) this.#break();
    else if (run.segmentBytes > MAX_SEGMENT_BYTES) this.#cutSegment(run, nowMs);
  }

  /** Ends the open part at `untilMs`. Without samples no part is made, and its time goes to the next one. */
  #cutPart(run: Run, untilMs: number): void {
    const video = this.#video.take(untilMs);
    const audio = run.audio?.take(untilMs) ?? [];
    const durationMs = untilMs - run.partStartMs;
    if (durationMs <= 0 || video.length + audio.length === 0) return;
    const bytes = writeFragment(++this.#fragments, video, audio);
    const isIndependent = run.formats.video === undefined || video[0]?.isKey === true;
    const part = { durationMs, isIndependent, videoFrames: video.length, bytes };
    run.segmentBytes += bytes.length;
    this.window.addPart(part, { init: run.init, startMs: run.segmentStartMs, clock: run.clock });
    run.partStartMs = untilMs;
  }

  #cutSegment(run: Run, untilMs: number): void {
    this.#cutPart(run, untilMs);
    const ended = this.window.endSegment();
    if (ended !== undefined)
      this.#targetSeconds = Math.max(this.#targetSeconds ?? 0, targetSecondsOf(ended.durationMs));
    run.segmentStartMs = run.partStartMs;
    run.segmentBytes = 0;
  }

  #break(): void {
    const run = this.#run;
    if (run === undefined) return;
    this.#cutDue(run);
    // The tracks end together, because players stop at a gap in one of them.
    const audioEndMs = run.audio?.endMs ?? 0;
    const endMs = Math.max(this.#video.finish(audioEndMs), audioEndMs);
    run.audio?.finish(endMs);
    if (this.#partTargetMs !== undefined) this.#cutTo(run, endMs, this.#partTargetMs);
    this.#cutSegment(run, endMs);
    this.window.break();
    this.#video.clear();
    this.#run = undefined;
  }
}

/** Whether the part that is due still waits for its audio when video has reached `nowMs`. */
function isAudioAwaited({ due, audio }: Run, nowMs: number): boolean {
  if (due === undefined || audio === undefined) return false;
  const lagMs = due.untilMs - audio.readyMs;
  return lagMs > 0 && lagMs <= MAX_AUDIO_LAG_MS && nowMs - due.untilMs < MAX_AUDIO_WAIT_MS;
}
