/**
 * One stream of hints. A reader that falls behind loses hints and is told so by `gap`; one that reads nothing for long
 * is cut. It never holds up anybody else.
 */
import { Readable } from 'node:stream';
import { formatPosition, type Hint, type HintPosition, isFor, type Watcher } from '#model/hint.ts';
import { writeHint } from '../wire/wire-watch.ts';

/** Bytes that a reader may leave unread. */
export const MAX_UNREAD_BYTES = 64 * 1024;
/** Time without reading after which a reader that has left so much is cut. */
const STALL_MS = 30_000;
/** Interval of comments, which keep the connections of proxies open, and of asking whether the caller may still watch. */
export const COMMENT_MS = 15_000;

/** `bye`: the stream was ended here. `gone`: its reader is gone. `stalled`: the reader took nothing. */
export type WatchEnd = 'bye' | 'gone' | 'stalled';

export interface WatchStreamOptions {
  readonly watcher: Watcher;
  readonly monotonic: () => number;
  /** Why the caller may watch no longer, as a code; `undefined`: it may. */
  readonly whyEnded: () => Promise<string | undefined>;
  readonly position: () => HintPosition;
  /** Called once. */
  readonly onEnd: (why: WatchEnd) => void;
}

export class WatchStream {
  readonly body = new Readable({ read: () => this.#noteReading(), highWaterMark: 16 * 1024 });
  readonly #options: WatchStreamOptions;
  #readAt: number;
  #beatAt: number;
  #hasGap = false;
  #isAsking = false;
  #isOver = false;

  constructor(options: WatchStreamOptions) {
    this.#options = options;
    this.#readAt = options.monotonic();
    this.#beatAt = this.#readAt;
    this.body.once('close', () => this.#finish('gone'));
  }

  get watcher(): Watcher {
    return this.#options.watcher;
  }

  /** Sends the hint if it is for this watcher, with the position as its id. Returns whether it was sent. */
  offer(hint: Hint): boolean {
    if (this.#isOver || !isFor(this.#options.watcher, hint)) return false;
    if (this.#hasGap || this.body.readableLength >= MAX_UNREAD_BYTES) {
      this.#hasGap = true;
      return false;
    }
    this.body.push(`id: ${formatPosition(this.#options.position())}\n${formatHint(hint)}`);
    return true;
  }

  /** Sends those of the hints that are for this watcher, before anything is read. Returns their number. */
  replay(hints: readonly Hint[]): number {
    const own = hints.filter((hint) => isFor(this.#options.watcher, hint));
    if (!this.#isOver && own.length > 0) this.body.push(own.map(formatHint).join(''));
    return own.length;
  }

  say(event: 'ready' | 'gap' | 'bye', data: object): void {
    if (!this.#isOver) this.body.push(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Called about once a second. Never rejects. */
  async tick(): Promise<void> {
    const now = this.#options.monotonic();
    const isFull = this.body.readableLength >= MAX_UNREAD_BYTES;
    if (isFull && now - this.#readAt > STALL_MS) return this.#cut();
    if (this.#hasGap && !isFull) {
      this.#hasGap = false;
      this.say('gap', {});
    }
    if (now - this.#beatAt < COMMENT_MS) return;
    this.#beatAt = now;
    if (!isFull && !this.#isOver) this.body.push(`id: ${formatPosition(this.#options.position())}\n:\n\n`);
    await this.askAgain();
  }

  /** Ends the stream if its caller may watch no longer. Never rejects. */
  async askAgain(): Promise<void> {
    if (this.#isAsking || this.#isOver) return;
    this.#isAsking = true;
    // A database that is away says nothing about the caller.
    const reason = await this.#options.whyEnded().catch(() => undefined);
    this.#isAsking = false;
    if (reason !== undefined) this.end(reason);
  }

  end(reason: string): void {
    if (this.#isOver) return;
    this.say('bye', { reason });
    this.body.push(null);
    this.#finish('bye');
  }

  #cut(): void {
    this.#finish('stalled');
    this.body.destroy();
  }

  #noteReading(): void {
    this.#readAt = this.#options.monotonic();
  }

  #finish(why: WatchEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onEnd(why);
  }
}

function formatHint(hint: Hint): string {
  return `event: ${hint.kind}\ndata: ${JSON.stringify(writeHint(hint))}\n\n`;
}
