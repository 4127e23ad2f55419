/**
 * Pulls a stream from a domain's origins: from the next one when one fails, in a circle, until none of them has it.
 * Viewers stay connected meanwhile. docs/decisions/0494
 */
import { setTimeout as delay } from 'node:timers/promises';
import { FlvReader } from '#fanout/media/flv.ts';
import type { Admission, HolderSide, Intake } from '../live-stream.ts';
import { type ConnectOrigin, type OriginPlace, openOriginStream } from './origin-stream.ts';

export interface PullOptions {
  /** The origins to try; at least one. */
  readonly places: readonly OriginPlace[];
  readonly path: string;
  readonly connect: ConnectOrigin;
  readonly limits: PullLimits;
  /** Asks the owner to admit the pull, once an origin has the stream. */
  admit(side: HolderSide): Admission;
  /** Counts received bytes of an origin's response. */
  countBytes(bytes: number): void;
  readonly lines: PullLines;
}

/** Rate-limited log: viewers choose the stream names and could fill it. */
interface PullLines {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface PullLimits {
  /** An origin is given up if it sends no byte, or neither audio nor video, for this long. */
  readonly silenceMs: number;
  /** Pause before the origins are tried again after a stream broke off. */
  readonly pauseMs: number;
  /**
   * Pulls of one domain without media yet, because viewers choose the stream names and all domains share `maxPulls`.
   */
  readonly maxStarting: number;
  /** Concurrent pulls, of which each domain has a share. */
  readonly maxPulls: number;
}

export const PULL_LIMITS: PullLimits = { silenceMs: 10_000, pauseMs: 500, maxStarting: 250, maxPulls: 2_000 };

export type PullStart =
  /** The first media has arrived. */
  | { readonly kind: 'onAir' }
  | { readonly kind: 'file' }
  /** No origin has the stream. */
  | { readonly kind: 'notFound' }
  | { readonly kind: 'failed'; readonly isTimeout: boolean }
  /** The stream is being published, or is forbidden. */
  | { readonly kind: 'refused' }
  /** The domain has used up its share of pulls, streams or memory. */
  | { readonly kind: 'full' };

export class Pull {
  readonly #options: PullOptions;
  readonly #stop = new AbortController();
  readonly #started = Promise.withResolvers<PullStart>();
  #intake: Intake | undefined;
  #reader = new FlvReader();
  #isStarting = true;

  constructor(options: PullOptions) {
    this.#options = options;
  }

  /** Resolves when the first media has arrived or the pull has failed. */
  get started(): Promise<PullStart> {
    return this.#started.promise;
  }

  /** Whether the first media is still awaited. */
  get isStarting(): boolean {
    return this.#isStarting;
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Pulls until no origin has the stream or the pull is stopped. Never rejects. */
  async run(): Promise<void> {
    const { places, limits } = this.#options;
    let last: PullStart = { kind: 'notFound' };
    let isFailed = false;
    let fruitless = 0;
    for (let index = 0; fruitless < places.length && !this.#stop.signal.aborted; index = (index + 1) % places.length) {
      const place = places[index];
      if (place === undefined) break; // there is at least one
      const outcome = await this.#try(place);
      if (outcome.kind === 'file' || outcome.kind === 'refused' || outcome.kind === 'full') {
        last = outcome;
        break;
      }
      isFailed ||= outcome.kind === 'failed';
      if (outcome.kind !== 'onAir') {
        fruitless++;
        // A failure is reported rather than that other origins do not have the stream.
        if (outcome.kind === 'failed') last = outcome;
        continue;
      }
      fruitless = 0;
      isFailed = false;
      last = { kind: 'notFound' };
      // Ends early when the pull is stopped.
      await delay(limits.pauseMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
    this.#started.resolve(last);
    this.#intake?.end(!isFailed);
  }

  /** Pulls from one origin. `onAir`: it sent media until the connection ended. */
  async #try(place: OriginPlace): Promise<PullStart> {
    const { limits } = this.#options;
    const silence = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, silence.signal]);
    // An origin that sends no media but keeps sending would hold a pull for ever.
    const timer = setTimeout(() => silence.abort(new Error(`no media for ${limits.silenceMs} ms`)), limits.silenceMs);
    try {
      const outcome = await this.#take(place, signal, () => timer.refresh());
      return outcome.kind === 'failed' && silence.signal.aborted ? { kind: 'failed', isTimeout: true } : outcome;
    } finally {
      clearTimeout(timer);
    }
  }

  async #take(place: OriginPlace, signal: AbortSignal, onMedia: () => void): Promise<PullStart> {
    const { path, connect, limits, lines } = this.#options;
    const opened = await openOriginStream({ place, path, connect, silenceMs: limits.silenceMs, signal });
    if (opened.kind === 'failed') {
      if (!this.#stop.signal.aborted)
        lines.warn({ origin: place.key, path, detail: opened.detail }, 'a stream could not be pulled');
      return opened;
    }
    if (opened.kind === 'file') return this.#intake === undefined ? opened : { kind: 'notFound' };
    if (opened.kind === 'notFound') return opened;
    const isNext = this.#intake !== undefined;
    const admission = this.#intake === undefined ? this.#admit(place) : accepted(this.#intake);
    if (admission.kind === 'refused') {
      opened.body.destroy();
      const { reason } = admission;
      return { kind: reason === 'streams' || reason === 'memory' || reason === 'rate' ? 'full' : 'refused' };
    }
    const { intake } = admission;
    if (isNext) intake.restart();
    this.#intake = intake;
    return await this.#read(opened.body, intake, place, onMedia);
  }

  #admit({ key }: OriginPlace): Admission {
    const held = () => this.#reader.partialBytes;
    const side: HolderSide = {
      source: 'origin',
      address: key,
      flashVer: '',
      get heldBytes() {
        return held();
      },
      cut: () => this.stop(),
    };
    return this.#options.admit(side);
  }

  async #read(
    body: AsyncIterable<Buffer>,
    intake: Intake,
    { key }: OriginPlace,
    onMedia: () => void,
  ): Promise<PullStart> {
    const { countBytes, lines, path } = this.#options;
    const reader = new FlvReader();
    this.#reader = reader;
    let hasMedia = false;
    try {
      for await (const bytes of body) {
        countBytes(bytes.length);
        for (const message of reader.push(bytes)) {
          intake.take(message);
          if (message.kind === 'data') continue;
          onMedia();
          if (hasMedia) continue;
          hasMedia = true;
          this.#isStarting = false;
          this.#started.resolve({ kind: 'onAir' });
        }
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) lines.warn({ err: error, origin: key, path }, 'a pulled stream broke off');
      return hasMedia ? { kind: 'onAir' } : { kind: 'failed', isTimeout: false };
    }
    return hasMedia ? { kind: 'onAir' } : { kind: 'notFound' };
  }
}

function accepted(intake: Intake): Admission {
  return { kind: 'accepted', intake };
}
