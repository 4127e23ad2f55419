/** What a broadcast's media say of themselves, for those who watch over it: codecs, rates, distance of key frames. */
import type { MediaFacts } from '#fanout/media/describe.ts';
import type { MediaMessage } from '#fanout/media/message.ts';

export interface MediaFigures {
  /** Empty: no such track so far. */
  readonly videoCodec: string;
  readonly audioCodec: string;
  /** Per second, over the last whole window; 0, here and below: not known yet. */
  readonly frameRate: number;
  readonly bitsPerSecond: number;
  readonly keyFrameMs: number;
}

const WINDOW_MS = 5_000;

export class Meter {
  #videoCodec = '';
  #audioCodec = '';
  #keyFrameAt: number | undefined;
  #keyFrameMs = 0;
  #windowAt: number | undefined;
  #bytes = 0;
  #frames = 0;
  #frameRate = 0;
  #bitsPerSecond = 0;

  get figures(): MediaFigures {
    return {
      videoCodec: this.#videoCodec,
      audioCodec: this.#audioCodec,
      frameRate: this.#frameRate,
      bitsPerSecond: this.#bitsPerSecond,
      keyFrameMs: this.#keyFrameMs,
    };
  }

  /** `now`: milliseconds of a clock that never goes back. */
  note({ kind, timestampMs, data }: MediaMessage, facts: MediaFacts, now: number): void {
    if (kind === 'video' && facts.codec !== '') this.#videoCodec = facts.codec;
    if (kind === 'audio' && facts.codec !== '') this.#audioCodec = facts.codec;
    if (facts.isKeyFrame) {
      if (this.#keyFrameAt !== undefined) this.#keyFrameMs = timestampMs - this.#keyFrameAt;
      this.#keyFrameAt = timestampMs;
    }
    this.#windowAt ??= now;
    const passedMs = now - this.#windowAt;
    if (passedMs >= WINDOW_MS) {
      this.#frameRate = Math.round((this.#frames * 100_000) / passedMs) / 100;
      this.#bitsPerSecond = Math.round((this.#bytes * 8_000) / passedMs);
      this.#windowAt = now;
      this.#bytes = 0;
      this.#frames = 0;
    }
    this.#bytes += data.length;
    if (kind === 'video' && !facts.isSequenceHeader && !facts.isIgnored) this.#frames++;
  }
}
