/** Records one broadcast: one recording after another, each in pieces of whole segments. */
import type { Part, Segment, WindowListener } from '#fanout/hls/window.ts';
import type { RecordingEnd } from '#feed/wire/recording-message.ts';
import type { StreamName } from '#sites/live.ts';
import { isPieceLong, whyAnother } from './cut.ts';
import type { RecordingSpool } from './spool.ts';
import { RecordingWriter } from './writer.ts';

export interface RecordingSessionOptions {
  readonly name: StreamName;
  readonly broadcast: string;
  readonly spool: RecordingSpool;
  newRecordingId(): string;
  /** Returns milliseconds of a monotonic clock. */
  steadyNow(): number;
  onStopped(end: 'full' | 'slow', error: unknown): void;
}

interface Current {
  readonly writer: RecordingWriter;
  readonly init: Buffer;
  readonly baseMs: number;
  readonly beganAt: number;
  nextPiece: number;
  piece: { durationMs: number; bytes: number } | undefined;
}

/** Delay after a failure before another recording begins. */
const RETRY_MS = 30_000;
/** Most recordings of one broadcast: a publisher may change its formats with every key frame. */
const MAX_RECORDINGS = 1_000;

export class RecordingSession implements WindowListener {
  readonly #options: RecordingSessionOptions;
  readonly #writers = new Set<RecordingWriter>();
  #current: Current | undefined;
  #recordings = 0;
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(options: RecordingSessionOptions) {
    this.#options = options;
  }

  get isRecording(): boolean {
    return this.#current !== undefined;
  }

  onPart(part: Part, segment: Segment, init: Buffer): void {
    // Recording begins with a segment: the rest of one that is open already is left out.
    if (segment.parts.length === 1) this.#beginSegment(segment, init);
    const { piece, writer } = this.#current ?? {};
    if (piece === undefined) return;
    piece.durationMs += part.durationMs;
    piece.bytes += part.bytes.length;
    writer?.write(part.bytes, part.durationMs);
  }

  onSegmentEnd(): void {
    const current = this.#current;
    if (current?.piece === undefined || !isPieceLong(current.piece)) return;
    current.writer.endPiece();
    current.piece = undefined;
  }

  /** Ends the session for good. */
  end(end: RecordingEnd): void {
    this.#current?.writer.end(end);
    this.#current = undefined;
    this.#retryAt = Number.POSITIVE_INFINITY;
  }

  /** Resolves when all that can be written is written. */
  async settled(): Promise<void> {
    await Promise.all([...this.#writers].map((writer) => writer.settled()));
  }

  #beginSegment(segment: Segment, init: Buffer): void {
    const why = this.#current && whyAnother(this.#current, { init, startMs: segment.startMs });
    if (why !== undefined) {
      this.#current?.writer.end(why);
      this.#current = undefined;
    }
    this.#current ??= this.#beginRecording(segment, init);
    const current = this.#current;
    if (current === undefined) return;
    if (current.piece !== undefined && !segment.isDiscontinuity) return;
    if (current.piece !== undefined) current.writer.endPiece();
    const startsAt = Math.round(current.beganAt + segment.startMs - current.baseMs);
    const isDiscontinuity = segment.isDiscontinuity && current.nextPiece > 0;
    current.piece = { durationMs: 0, bytes: 0 };
    current.writer.beginPiece(current.nextPiece++, { startsAt, isDiscontinuity });
  }

  #beginRecording({ startMs, clock }: Segment, init: Buffer): Current | undefined {
    const { name, broadcast, spool, newRecordingId, steadyNow } = this.#options;
    if (steadyNow() < this.#retryAt || this.#recordings >= MAX_RECORDINGS) return undefined;
    this.#recordings++;
    const beganAt = Math.round(clock.offsetMs + startMs);
    const spooled = spool.begin({ id: newRecordingId(), ...name, broadcast, beganAt, baseMs: startMs });
    const writer: RecordingWriter = new RecordingWriter({
      spool,
      spooled,
      init,
      onFailure: (end, error) => this.#onFailure(writer, end, error),
    });
    this.#writers.add(writer);
    return { writer, init, baseMs: startMs, beganAt, nextPiece: 0, piece: undefined };
  }

  #onFailure(writer: RecordingWriter, end: 'full' | 'slow', error: unknown): void {
    if (this.#current?.writer === writer) this.#current = undefined;
    this.#retryAt = Math.max(this.#retryAt, this.#options.steadyNow() + RETRY_MS);
    this.#options.onStopped(end, error);
  }
}
