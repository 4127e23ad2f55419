/** The latest configurations of a stream's publisher, and the formats of its tracks. */
import { readAudioFormat } from '../fmp4/audio-formats.ts';
import { readVideoFormat } from '../fmp4/formats.ts';
import type { AudioFormat, VideoFormat } from '../fmp4/track-formats.ts';
import type { MediaFacts } from '../media/describe.ts';
import type { MediaMessage } from '../media/message.ts';

interface Configuration {
  readonly codec: string;
  readonly bytes: Buffer;
}

/** An MP3 frame's own header is its configuration. */
const MP3_HEADER_BYTES = 4;

export class Tracks {
  #video: Configuration | undefined;
  #audio: Configuration | undefined;
  #isVideoReadable = true;

  /** Whether there is video that can be packaged, as far as its configuration shows. */
  get hasVideo(): boolean {
    return this.#video !== undefined && this.#isVideoReadable;
  }

  /** Takes a message. Returns whether it has a configuration that differs from the previous one. */
  take({ kind, data }: MediaMessage, facts: MediaFacts): boolean {
    if (kind === 'data' || !isConfiguration(facts, this.#audio)) return false;
    const end = facts.isSequenceHeader ? data.length : facts.payloadOffset + MP3_HEADER_BYTES;
    const bytes = data.subarray(facts.payloadOffset, end);
    const before = kind === 'video' ? this.#video : this.#audio;
    if (before?.codec === facts.codec && before.bytes.equals(bytes)) return false;
    const configuration = { codec: facts.codec, bytes: Buffer.from(bytes) };
    if (kind === 'audio') this.#audio = configuration;
    else {
      this.#video = configuration;
      this.#isVideoReadable = true;
    }
    return true;
  }

  /** Leaves out video that cannot be packaged, until it is configured again. */
  leaveOutVideo(): void {
    this.#isVideoReadable = false;
  }

  /** Whether a frame is of the codec that was configured. */
  isConfigured(kind: 'audio' | 'video', codec: string): boolean {
    return kind === 'video' ? this.hasVideo && this.#video?.codec === codec : this.#audio?.codec === codec;
  }

  /**
   * Returns the formats of the tracks; video begins with `keyFrame`. A track with an unreadable configuration is left
   * out.
   */
  readFormats(keyFrame: Buffer | undefined): { video: VideoFormat | undefined; audio: AudioFormat | undefined } {
    const [video, audio] = [this.#video, this.#audio];
    return {
      video: video && keyFrame && readVideoFormat(video.codec, video.bytes, keyFrame),
      audio: audio && readAudioFormat(audio.codec, audio.bytes),
    };
  }

  clear(): void {
    this.#video = undefined;
    this.#audio = undefined;
  }
}

function isConfiguration(facts: MediaFacts, audio: Configuration | undefined): boolean {
  return facts.isSequenceHeader || (facts.codec === '.mp3' && audio?.codec !== '.mp3');
}
