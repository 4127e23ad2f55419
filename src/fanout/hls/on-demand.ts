/**
 * Packages a stream only while its HLS files are requested or it is recorded: most streams are watched in other ways.
 * docs/decisions/0482
 */
import { describeMedia, type MediaFacts } from '../media/describe.ts';
import type { MediaMessage } from '../media/message.ts';
import type { HlsPackager } from './packager.ts';

/** Packaging stops after this long without a request. */
const IDLE_MS = 30_000;

export interface OnDemandOptions {
  readonly packager: HlsPackager;
  /**
   * Returns the messages with which a new viewer begins: the configurations and the frames since the last key frame.
   */
  readonly replay: () => Iterable<MediaMessage>;
}

export class OnDemandPackager {
  readonly #packager: HlsPackager;
  readonly #replay: () => Iterable<MediaMessage>;
  #askedAt: number | undefined;
  #isHeld = false;
  #now = 0;

  constructor({ packager, replay }: OnDemandOptions) {
    this.#packager = packager;
    this.#replay = replay;
  }

  /** Whether its files were requested lately. */
  get isAsked(): boolean {
    return this.#askedAt !== undefined;
  }

  /** Returns the packager for a request, and starts packaging if needed. `now`: epoch milliseconds, as below. */
  ask(now: number): HlsPackager {
    this.#begin(now);
    this.#askedAt = now;
    return this.#packager;
  }

  /** Packages without requests, too, until `release`. */
  hold(now: number): void {
    this.#begin(now);
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    if (this.#askedAt === undefined) this.#packager.suspend();
  }

  push(message: MediaMessage, facts: MediaFacts, now: number): void {
    this.#now = now;
    if (this.#askedAt !== undefined && now - this.#askedAt > IDLE_MS) {
      this.#askedAt = undefined;
      if (!this.#isHeld) this.#packager.suspend();
    }
    if (this.#isRunning) this.#packager.push(message, facts, now);
  }

  /** Drops all packaged media. The next request starts packaging again; if it is held, the next key frame does. */
  stop(): void {
    this.#askedAt = undefined;
    this.#packager.suspend();
    if (this.#isHeld) this.#start(this.#now);
  }

  get #isRunning(): boolean {
    return this.#isHeld || this.#askedAt !== undefined;
  }

  #begin(now: number): void {
    if (!this.#isRunning) this.#start(now);
  }

  #start(now: number): void {
    for (const message of this.#replay()) this.#packager.push(message, describeMedia(message), now);
  }
}
