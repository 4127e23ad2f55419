/**
 * What somebody who follows a log reads: a JSON object per line of the log, and one for what was left out and for the
 * end. A reader that falls behind loses lines and is told how many; it never holds up the edges.
 */
import { Readable } from 'node:stream';
import { TokenBuckets } from '#lib/token-bucket.ts';
import { readLine } from './read-line.ts';

/** Lines of one tail in a second, from all edges together. */
export const MAX_LINES_PER_SECOND = 200;
/** Bytes that a reader may leave unread. */
const MAX_UNREAD_BYTES = 256 * 1024;
/** Time without reading after which a reader that has left so much is cut. */
const STALL_MS = 30_000;
const TICK_MS = 1_000;
/**
 * Interval of empty lines, which keep the connections of proxies open. A client that has left is noticed by the second
 * write after it: until then it is one of those that an account may have.
 */
const HEARTBEAT_TICKS = 2;
/** Limits of what an edge may send at once. */
const MAX_LINES = 100;
const MAX_LINE_CHARS = 8_000;

/** `time`: it was followed for as long as was asked. `stopping`: control ends. `domain`: the account has it no longer. */
export type TailEnd = 'time' | 'stopping' | 'domain';

export interface TailStreamOptions {
  readonly seconds: number;
  readonly monotonic: () => number;
  /** Whether the account still has the domain; asked once a second. */
  readonly isOwn: () => Promise<boolean>;
  /** Called once, when nothing more is read. */
  readonly onEnd: () => void;
}

export class TailStream {
  readonly body = new Readable({ read: () => this.#noteReading(), highWaterMark: 16 * 1024 });
  readonly #options: TailStreamOptions;
  readonly #rates = new TokenBuckets({ perSecond: MAX_LINES_PER_SECOND, burst: MAX_LINES_PER_SECOND, maxKeys: 1 });
  readonly #endsAt: number;
  readonly #ticking: NodeJS.Timeout;
  #ticks = 0;
  #dropped = 0;
  #readAt: number;
  #isOver = false;

  constructor(options: TailStreamOptions) {
    this.#options = options;
    this.#readAt = options.monotonic();
    this.#endsAt = this.#readAt + options.seconds * 1000;
    this.#ticking = setInterval(() => void this.#tick(), TICK_MS); // never rejects
    this.body.once('close', () => this.#finish());
    this.#push({ start: options.seconds });
  }

  /** Takes what an edge sends, which is not to be trusted. */
  take(edge: string, content: unknown): void {
    const { lines, skipped } = Object(content);
    if (this.#isOver || !Array.isArray(lines) || lines.length > MAX_LINES) return;
    if (Number.isSafeInteger(skipped) && skipped > 0) this.#dropped += skipped;
    for (const line of lines) if (typeof line === 'string' && line.length <= MAX_LINE_CHARS) this.#offer(edge, line);
  }

  end(why: TailEnd): void {
    if (this.#isOver) return;
    this.#tellDropped();
    this.#push({ end: why });
    this.body.push(null);
    this.#finish();
  }

  #offer(edge: string, line: string): void {
    const isTaken = this.#rates.take('', this.#options.monotonic()).kind === 'taken';
    if (isTaken && this.body.readableLength < MAX_UNREAD_BYTES) this.#push(readLine(edge, line));
    else this.#dropped += 1;
  }

  async #tick(): Promise<void> {
    this.#ticks += 1;
    const now = this.#options.monotonic();
    if (this.body.readableLength >= MAX_UNREAD_BYTES && now - this.#readAt > STALL_MS) return void this.body.destroy();
    if (now >= this.#endsAt) return this.end('time');
    this.#tellDropped();
    if (this.#ticks % HEARTBEAT_TICKS === 0) this.body.push('\n');
    // A database that is away says nothing about the owner.
    if (!(await this.#options.isOwn().catch(() => true))) this.end('domain');
  }

  #tellDropped(): void {
    if (this.#dropped === 0 || this.body.readableLength >= MAX_UNREAD_BYTES) return;
    this.#push({ dropped: this.#dropped });
    this.#dropped = 0;
  }

  #push(value: object): void {
    this.body.push(`${JSON.stringify(value)}\n`);
  }

  #noteReading(): void {
    this.#readAt = this.#options.monotonic();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#ticking);
    this.#options.onEnd();
  }
}
