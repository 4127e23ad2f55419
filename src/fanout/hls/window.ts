/**
 * The segments and parts that a stream keeps for its viewers, and the numbers they have. A part's bytes are kept once; a segment is its
 * parts one after another. Numbers never begin anew within a broadcast: caches hold files by their names.
 */

/** The wall clock of what was published without a break: the stream's clock plus `offsetMs` is epoch milliseconds. */
export interface WallClock {
  offsetMs: number;
  /** A playlist has told it; it stays. */
  isTold: boolean;
}

export interface Part {
  readonly durationMs: number;
  /** Decoding can begin with it. */
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

/** Hears of each part and the end of each segment, in their order. It must not throw. */
export interface WindowListener {
  /** `segment` has the part already; `init` is the init segment that goes before it. */
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
  /** Absent: only viewers use the parts. */
  listener: WindowListener | undefined;

  constructor(limits: WindowLimits) {
    this.#limits = limits;
  }

  get bytesHeld(): number {
    return this.#bytes;
  }

  /** The number of the next segment to be begun. */
  get nextSequence(): number {
    return this.#nextSequence;
  }

  get newest(): Segment | undefined {
    return this.#segments.at(-1);
  }

  /** What a playlist lists, oldest first, the open segment last. */
  get listed(): readonly Segment[] {
    const open = this.newest?.isComplete === false ? 1 : 0;
    return this.#segments.slice(-(this.#limits.listedSegments + open));
  }

  /** The same segments for a playlist that is being written: their times are fixed from now on. */
  tell(): readonly Segment[] {
    const { listed } = this;
    for (const { clock } of listed) clock.isTold = true;
    return listed;
  }

  /** How many discontinuities lie before the first segment listed. */
  get discontinuitySequence(): number {
    const unlisted = this.#segments.slice(0, this.#segments.length - this.listed.length);
    return this.#discontinuitySequence + unlisted.filter(({ isDiscontinuity }) => isDiscontinuity).length;
  }

  /** The same init segment twice in a row is one. Returns its number. */
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

  /** `undefined`: there is none, or it is not complete. */
  segment(sequence: number): Segment | undefined {
    const found = this.#find(sequence);
    return found?.isComplete === true ? found : undefined;
  }

  part(sequence: number, part: number): Part | undefined {
    return this.#find(sequence)?.parts[part];
  }

  /** Adds to the open segment, or begins one. */
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

  /** Returns the segment that this completed. */
  endSegment(): Segment | undefined {
    const open = this.#segments.at(-1);
    if (open === undefined || open.isComplete) return undefined;
    open.isComplete = true;
    this.listener?.onSegmentEnd(open);
    while (this.#segments.length > this.#limits.listedSegments + this.#limits.unlistedSegments) this.#drop();
    this.wake();
    return open;
  }

  /** The next segment does not follow from the one before. */
  break(): void {
    this.endSegment();
    this.#isBroken = this.#nextSequence > 0;
  }

  /** Forgets everything but the numbers. */
  clear(): void {
    this.break();
    while (this.#segments.length > 0) this.#drop();
    this.#inits.clear();
    this.#bytes = 0;
    this.wake();
  }

  /** Resolves at the next change, or when the signal is aborted. */
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
