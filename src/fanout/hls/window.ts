/**
 * The numbered segments and parts that a stream keeps for its viewers. A part's bytes are kept once; a segment is the
 * concatenation of its parts. Numbers are never reused within a broadcast, because caches store files by name.
 */

/** Wall clock of media without a break: the stream's clock plus `offsetMs` is epoch milliseconds. */
export interface WallClock {
  offsetMs: number;
  /** Whether a playlist has shown a time of it, so that it must not change any more. */
  isFixed: boolean;
}

export interface Part {
  readonly durationMs: number;
  /** Whether decoding can begin with it. */
  readonly isIndependent: boolean;
  readonly videoFrames: number;
  readonly bytes: Buffer;
}

export interface Segment {
  readonly sequence: number;
  readonly init: number;
  readonly isDiscontinuity: boolean;
  readonly startMs: number;
  readonly clock: WallClock;
  readonly parts: readonly Part[];
  readonly durationMs: number;
  readonly isComplete: boolean;
}

interface OpenSegment extends Segment {
  parts: Part[];
  durationMs: number;
  isComplete: boolean;
}

export interface WindowLimits {
  /** Complete segments that a playlist lists. */
  readonly listedSegments: number;
  /** Complete segments beyond those, for clients with an older playlist. */
  readonly unlistedSegments: number;
  /** Total size beyond which the oldest segments are dropped early. */
  readonly maxBytes: number;
}

/** Notified of each part and of the end of each segment, in order. Must not throw. */
export interface WindowListener {
  /** `segment` already includes the part; `init` is its init segment. */
  onPart(part: Part, segment: Segment, init: Buffer): void;
  onSegmentEnd(segment: Segment): void;
}

export type Beginning = Pick<Segment, 'init' | 'startMs' | 'clock'>;

export class HlsWindow {
  readonly #limits: WindowLimits;
  readonly #inits = new Map<number, Buffer>();
  #nextInit = 0;
  #segments: OpenSegment[] = [];
  #nextSequence = 0;
  #isBroken = false;
  #discontinuitySequence = 0;
  #bytes = 0;
  readonly #waiting = new Set<() => void>();
  /** Set while the stream is recorded. */
  listener: WindowListener | undefined;

  constructor(limits: WindowLimits) {
    this.#limits = limits;
  }

  get bytesHeld(): number {
    return this.#bytes;
  }

  /** Number of the next segment to begin. */
  get nextSequence(): number {
    return this.#nextSequence;
  }

  get newest(): Segment | undefined {
    return this.#segments.at(-1);
  }

  /** Segments that a playlist lists, oldest first, the open one last. */
  get listed(): readonly Segment[] {
    const open = this.newest?.isComplete === false ? 1 : 0;
    return this.#segments.slice(-(this.#limits.listedSegments + open));
  }

  /** Returns the listed segments for a playlist, and fixes their times from now on. */
  fixTimes(): readonly Segment[] {
    const { listed } = this;
    for (const { clock } of listed) clock.isFixed = true;
    return listed;
  }

  /** Number of discontinuities before the first listed segment. */
  get discontinuitySequence(): number {
    const unlisted = this.#segments.slice(0, this.#segments.length - this.listed.length);
    return this.#discontinuitySequence + unlisted.filter(({ isDiscontinuity }) => isDiscontinuity).length;
  }

  /** Adds an init segment unless it equals the last one. Returns its number. */
  addInit(bytes: Buffer): number {
    const last = this.#nextInit - 1;
    if (this.#inits.get(last)?.equals(bytes) === true) return last;
    this.#inits.set(this.#nextInit, bytes);
    this.#bytes += bytes.length;
    return this.#nextInit++;
  }

  init(number: number): Buffer | undefined {
    return this.#inits.get(number);
  }

  /** Returns `undefined` if there is no such segment or it is incomplete. */
  segment(sequence: number): Segment | undefined {
    const found = this.#find(sequence);
    return found?.isComplete === true ? found : undefined;
  }

  part(sequence: number, part: number): Part | undefined {
    return this.#find(sequence)?.parts[part];
  }

  /** Adds a part to the open segment, or begins one. */
  addPart(part: Part, beginning: Beginning): void {
    const open = this.#segments.at(-1);
    const segment = open === undefined || open.isComplete ? this.#begin(beginning) : open;
    segment.parts.push(part);
    segment.durationMs += part.durationMs;
    this.#bytes += part.bytes.length;
    const init = this.#inits.get(segment.init);
    if (init !== undefined) this.listener?.onPart(part, segment, init);
    while (this.#bytes > this.#limits.maxBytes && this.#segments.length > 1) this.#drop();
    this.wake();
  }

  /** Completes the open segment and returns it. */
  endSegment(): Segment | undefined {
    const open = this.#segments.at(-1);
    if (open === undefined || open.isComplete) return undefined;
    open.isComplete = true;
    this.listener?.onSegmentEnd(open);
    while (this.#segments.length > this.#limits.listedSegments + this.#limits.unlistedSegments) this.#drop();
    this.wake();
    return open;
  }

  /** Marks the next segment as a discontinuity. */
  break(): void {
    this.endSegment();
    this.#isBroken = this.#nextSequence > 0;
  }

  /** Drops everything but the numbers. */
  clear(): void {
    this.break();
    while (this.#segments.length > 0) this.#drop();
    this.#inits.clear();
    this.#bytes = 0;
    this.wake();
  }

  /** Resolves at the next change, or when the signal aborts. */
  async change(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = () => {
      this.#waiting.delete(done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    this.#waiting.add(done);
    signal.addEventListener('abort', done, { once: true });
    await promise;
  }

  wake(): void {
    for (const done of [...this.#waiting]) done();
  }

  #begin({ init, startMs, clock }: Beginning): OpenSegment {
    const sequence = this.#nextSequence++;
    const isDiscontinuity = this.#isBroken;
    const segment = { sequence, init, isDiscontinuity, startMs, clock, parts: [], durationMs: 0, isComplete: false };
    this.#isBroken = false;
    this.#segments.push(segment);
    return segment;
  }

  #find(sequence: number): OpenSegment | undefined {
    return this.#segments[sequence - (this.#segments[0]?.sequence ?? 0)];
  }

  #drop(): void {
    const dropped = this.#segments.shift();
    if (dropped === undefined) return;
    if (dropped.isDiscontinuity) this.#discontinuitySequence++;
    for (const { bytes } of dropped.parts) this.#bytes -= bytes.length;
    const oldest = this.#segments[0]?.init ?? this.#nextInit - 1;
    for (const [number, bytes] of this.#inits) {
      if (number >= oldest) break;
      this.#inits.delete(number);
      this.#bytes -= bytes.length;
    }
  }
}
