/** Backpressure of a viewer: whether it keeps up, judged by its queued bytes. Pure: the time is passed in. */

export interface PressureLimits {
  /** Queued bytes of one viewer. */
  readonly maxQueuedBytes: number;
  /** Queued writes of one viewer: a queued tiny message takes many times its size. */
  readonly maxQueuedWrites: number;
  /** Age of the oldest queued byte. */
  readonly maxQueuedMs: number;
  /** Time without progress while bytes are queued. */
  readonly stallMs: number;
}

/**
 * `keepsUp`: below half of the limits, so that it may begin again after a drop. `isSlow`: within the limits.
 * `isBehind`: beyond a limit. `hasStalled`: without progress for too long.
 */
export type Pressure = 'keepsUp' | 'isSlow' | 'isBehind' | 'hasStalled';

/** Resolution of ages. */
const MARK_MS = 250;

/** Bytes and writes to the viewer up to an instant. */
interface Mark {
  readonly at: number;
  readonly writtenBytes: number;
  readonly writes: number;
}

export class PressureGauge {
  readonly #limits: PressureLimits;
  #writtenBytes = 0;
  #takenBytes = 0;
  #writes = 0;
  /** Lower bound of the writes that were taken. */
  #takenWrites = 0;
  #progressAt: number;
  /** Marks of queued bytes, oldest first; at most about `maxQueuedMs / MARK_MS` of them. */
  readonly #marks: Mark[] = [];

  constructor(limits: PressureLimits, now: number) {
    this.#limits = limits;
    this.#progressAt = now;
  }

  measure(queuedBytes: number, now: number): Pressure {
    const taken = this.#writtenBytes - queuedBytes;
    if (taken > this.#takenBytes || queuedBytes === 0) this.#progressAt = now;
    this.#takenBytes = taken;
    if (queuedBytes === 0) {
      this.#marks.length = 0;
      this.#takenWrites = this.#writes;
      return 'keepsUp';
    }
    for (let mark = this.#marks[0]; mark !== undefined && mark.writtenBytes <= taken; mark = this.#marks[0]) {
      this.#takenWrites = mark.writes;
      this.#marks.shift();
    }
    const { maxQueuedBytes, maxQueuedWrites, maxQueuedMs, stallMs } = this.#limits;
    if (now - this.#progressAt >= stallMs) return 'hasStalled';
    const oldestMs = now - (this.#marks[0]?.at ?? now);
    const share = Math.max(
      queuedBytes / maxQueuedBytes,
      (this.#writes - this.#takenWrites) / maxQueuedWrites,
      oldestMs / maxQueuedMs,
    );
    if (share > 1) return 'isBehind';
    return share > 0.5 ? 'isSlow' : 'keepsUp';
  }

  /** Notes a write. `queuedBytes`: after the write. */
  noteWritten(bytes: number, queuedBytes: number, now: number): void {
    this.#writtenBytes += bytes;
    this.#writes++;
    if (queuedBytes === 0) return;
    const last = this.#marks.at(-1);
    if (last === undefined || now - last.at >= MARK_MS) {
      this.#marks.push({ at: now, writtenBytes: this.#writtenBytes, writes: this.#writes });
    }
  }
}
