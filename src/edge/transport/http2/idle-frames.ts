/**
 * Frames that ask for nothing and bring nothing: pings, settings, priorities, wider windows, kinds that we do not know.
 * A client may send as many as its requests and what it is sent account for, and some more with each second. Pure.
 * docs/decisions/0418
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
 * Clients widen their windows by more at a time, and measure a connection by a ping behind some of what they are sent.
 */
const BYTES_PER_FRAME = 64;
/** Clients say how urgent a request is, and say it anew for all of them when a page comes to the front. */
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

  /** `sentBytes`: of bodies, until now. False: the client has sent too many. */
  take(frame: TakenFrame, now: number, sentBytes: number): boolean {
    if (!isIdle(frame)) return true;
    return this.#budget.take(now, sentBytes / BYTES_PER_FRAME + this.#requests * FRAMES_PER_REQUEST);
  }
}

/** A part of a request, and what breaks one off, have limits of their own. */
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
