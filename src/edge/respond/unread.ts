/** Limits a fetch without readers, whose connection other requests to the origin may wait for. */
import type { OriginBody } from '../origin/origin-request.ts';
import type { Fill } from './edge-answer.ts';

/**
 * A smaller body, or one that is more than half fetched, is fetched to its end after its client has left. Edge rule 9
 */
export const FINISH_BELOW_BYTES = 16 * 1024 * 1024;

/** Rate at which the time for the rest of a body of known length is measured. */
const MIN_BYTES_PER_MS = 64;

/** Ends the source after its time, or when it has grown large without a known length, but not while others read it. */
export class UnreadLimit {
  readonly #source: OriginBody;
  readonly #fill: Fill | undefined;
  readonly #baseMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(source: OriginBody, fill: Fill | undefined, baseMs: number) {
    this.#source = source;
    this.#fill = fill;
    this.#baseMs = baseMs;
  }

  /** Begins the limit when the client has left; `gathered`: bytes received so far. */
  start(gathered: number): void {
    const restBytes = (this.#fill?.announcedBytes ?? gathered) - gathered;
    this.#timer = setTimeout(() => this.#end(), this.#baseMs + restBytes / MIN_BYTES_PER_MS);
  }

  #end(): void {
    if (this.#isUnread) this.#source.destroy();
    else this.#timer?.refresh(); // these readers may leave, too
  }

  get #isUnread(): boolean {
    return this.#timer !== undefined && this.#fill?.shared?.hasReaders !== true;
  }

  note(gathered: number): void {
    if (gathered <= FINISH_BELOW_BYTES || this.#fill?.announcedBytes !== undefined) return;
    if (this.#isUnread) this.#source.destroy();
  }

  stop(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
  }
}
