/** Measures a broadcast's media for operators: codecs, rates, distance between key frames. */
import { readVideoFormat } from '#fanout/fmp4/formats.ts';
import type { MediaFacts } from '#fanout/media/describe.ts';
import type { MediaMessage } from '#fanout/media/message.ts';

export interface MediaFigures {
  /** Empty if there is no such track so far. */
  readonly videoCodec: string;
  readonly audioCodec: string;
  /** Frames per second over the last whole window. This and the following fields are 0 until they are known. */
  readonly frameRate: number;
  readonly bitsPerSecond: number;
  readonly keyFrameMs: number;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

const WINDOW_MS = 5_000;

export class Meter {
  #videoCodec = '';
  #audioCodec = '';
  /** The video configuration; absent once the picture size has been read from it. */
  #config: Buffer | undefined;
  #width = 0;
  #height = 0;
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
      width: this.#width,
      height: this.#height,
    };
  }

  /** `now`: milliseconds of a monotonic clock. */
  note({ kind, timestampMs, data }: MediaMessage, facts: MediaFacts, now: number): void {
    if (kind === 'video' && facts.codec !== '') this.#videoCodec = facts.codec;
    if (kind === 'audio' && facts.codec !== '') this.#audioCodec = facts.codec;
    if (kind === 'video' && facts.isSequenceHeader) this.#config = data.subarray(facts.payloadOffset);
    if (facts.isKeyFrame) {
      this.#readSize(facts, data);
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

  /** Reads the picture size, from the configuration or the key frame by codec. */
  #readSize({ codec, payloadOffset }: MediaFacts, keyFrame: Buffer): void {
    if (this.#config === undefined) return;
    const format = readVideoFormat(codec, this.#config, keyFrame.subarray(payloadOffset));
    this.#config = undefined;
    this.#width = format?.width ?? 0;
    this.#height = format?.height ?? 0;
  }
}
