/**
 * Limits frames that neither ask for nor bring anything: pings, settings, priorities, window updates, unknown types.
 * Requests and sent data earn frames, and each second allows some more. Pure. docs/decisions/0418
 */
import { type Budget, type BudgetLimits, createBudget } from './budget.ts';
import { FrameType } from './frames.ts';

export interface TakenFrame {
  readonly type: number;
  readonly payloadBytes: number;
  /** The frame's stream is open. */
  readonly isOfStream: boolean;
  /** The connection is closing, so streams that the frame would open are ignored. */
  readonly isIgnored: boolean;
}

/**
 * Bytes of sent data that earn one frame. Window updates cover more than that, and some clients measure a connection
 * with a ping after some data.
 */
const BYTES_PER_FRAME = 64;
/**
 * Frames earned by one request: clients send its priority, and send all priorities again when a page comes to the
 * front.
 */
const FRAMES_PER_REQUEST = 10;

export class IdleFrames {
  readonly #budget: Budget;
  #requests = 0;

  constructor(limits: BudgetLimits) {
    this.#budget = createBudget(limits);
  }

  noteRequest(): void {
    this.#requests += 1;
  }

  /**
   * Takes a frame. `sentBytes`: body bytes sent on the connection until now. Returns false if the client has sent too
   * many idle frames.
   */
  take(frame: TakenFrame, now: number, sentBytes: number): boolean {
    if (!isIdle(frame)) return true;
    return this.#budget.take(now, sentBytes / BYTES_PER_FRAME + this.#requests * FRAMES_PER_REQUEST);
  }
}

/** Parts of requests and resets have limits of their own. */
function isIdle({ type, payloadBytes, isOfStream, isIgnored }: TakenFrame): boolean {
  switch (type) {
    case FrameType.reset:
    case FrameType.continuation:
      return false;
    case FrameType.headers:
      return isIgnored;
    case FrameType.data:
      return payloadBytes < BYTES_PER_FRAME && !isOfStream;
    default:
      return true;
  }
}
