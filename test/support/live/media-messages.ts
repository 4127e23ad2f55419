/** Messages of a stream as a publisher sends them, made up: the frames' bytes mean nothing to a decoder. */
import type { HlsPackager } from '#fanout/hls/packager.ts';
import { describeMedia } from '#fanout/media/describe.ts';
import type { MediaMessage } from '#fanout/media/message.ts';

/** Configuration of x264, for pictures of 320x180 at 30 frames a second. */
const AVC_CONFIG = '0142c00dffe100176742c00dda05067e7c0440000003004000000f03c50aa801000468ce0fc8';

export function avcHeader(config = AVC_CONFIG): MediaMessage {
  return { kind: 'video', timestampMs: 0, data: Buffer.from(`1700000000${config}`, 'hex') };
}

/** AAC, 44.1 kHz, stereo; another rate with another configuration. */
export function aacHeader(config = '1210'): MediaMessage {
  return { kind: 'audio', timestampMs: 0, data: Buffer.from(`af00${config}`, 'hex') };
}

export function avcFrame(
  timestampMs: number,
  isKey: boolean,
  told: { compositionMs?: number; bytes?: number } = {},
): MediaMessage {
  const data = Buffer.alloc(5 + (told.bytes ?? 40), 0xaa);
  data[0] = isKey ? 0x17 : 0x27;
  data[1] = 1;
  data.writeIntBE(told.compositionMs ?? 0, 2, 3);
  return { kind: 'video', timestampMs, data };
}

export function aacFrame(timestampMs: number, bytes = 20): MediaMessage {
  return { kind: 'audio', timestampMs, data: Buffer.concat([Buffer.from([0xaf, 1]), Buffer.alloc(bytes, 0xbb)]) };
}

export interface Recipe {
  readonly fromMs?: number;
  readonly untilMs: number;
  /** Frames per second; 0: no video. */
  readonly frameRate?: number;
  readonly keyFrameMs?: number;
  /** Hertz; 0: no audio. */
  readonly sampleRate?: number;
}

/** Frames of both tracks in the order of their times, which are rounded down to milliseconds as publishers do. */
export function frames(recipe: Recipe): MediaMessage[] {
  const { fromMs = 0, untilMs, frameRate = 30, keyFrameMs = 2_000, sampleRate = 44_100 } = recipe;
  const messages: MediaMessage[] = [];
  let keyAt = fromMs;
  for (let index = 0; frameRate > 0; index++) {
    const at = Math.floor(fromMs + (index * 1000) / frameRate);
    if (at >= untilMs) break;
    const isKey = at >= keyAt;
    if (isKey) keyAt += keyFrameMs;
    messages.push(avcFrame(at, isKey));
  }
  for (let index = 0; sampleRate > 0; index++) {
    const at = Math.floor(fromMs + (index * 1_024_000) / sampleRate);
    if (at >= untilMs) break;
    messages.push(aacFrame(at));
  }
  return messages.sort((a, b) => a.timestampMs - b.timestampMs);
}

/** Gives the messages to the packager, each at the instant that it was stamped with, on a clock that began at `startedAt`. */
export function feed(packager: HlsPackager, messages: Iterable<MediaMessage>, startedAt = 0): void {
  for (const message of messages) packager.push(message, describeMedia(message), startedAt + message.timestampMs);
}
