/** Packages a stream only while somebody asks for its HLS files: most streams are watched in other ways. docs/decisions/0482 */
import { describeMedia, type MediaFacts } from '../media/describe.ts';
import type { MediaMessage } from '../media/message.ts';
import type { HlsPackager } from './packager.ts';

/** Nobody has asked for so long: packaging stops. */
const IDLE_MS = 30_000;

export interface OnDemandOptions {
  readonly packager: HlsPackager;
  /** What a new viewer of the stream gets first: the configurations and the frames since the last key frame. */
  readonly replay: () => Iterable<MediaMessage>;
}

export class OnDemandPackager {
  readonly #packager: HlsPackager;
  readonly #replay: () => Iterable<MediaMessage>;
  #askedAt: number | undefined;

  constructor({ packager, replay }: OnDemandOptions) {
    this.#packager = packager;
    this.#replay = replay;
  }

  get isPackaging(): boolean {
    return this.#askedAt !== undefined;
  }

  /** Somebody asks: returns what answers, and begins it when it is not running. `now`: epoch milliseconds, as below. */
  ask(now: number): HlsPackager {
    const isRunning = this.#askedAt !== undefined;
    this.#askedAt = now;
    if (!isRunning) for (const message of this.#replay()) this.#packager.push(message, describeMedia(message), now);
    return this.#packager;
  }

  push(message: MediaMessage, facts: MediaFacts, now: number): void {
    if (this.#askedAt === undefined) return;
    if (now - this.#askedAt > IDLE_MS) this.stop();
    else this.#packager.push(message, facts, now);
  }

  /** Drops all packaged media; the next request starts packaging again. */
  stop(): void {
    this.#askedAt = undefined;
    this.#packager.suspend();
  }
}
