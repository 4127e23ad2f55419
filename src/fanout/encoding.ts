/** The interfaces of a hub: the byte format of a stream, and a viewer. */
import type { MediaMessage } from './media/message.ts';

/** A byte format of a stream. Viewers with the same `name` share encoded bytes. */
export interface Encoding {
  readonly name: string;
  /** Returns the bytes that precede the first message, such as the FLV file header; may be empty. */
  begin(tracks: TrackPresence): Buffer;
  /** Called once for each message, however many viewers there are. */
  encode(message: MediaMessage): Buffer;
}

/** Tracks that a broadcast has had so far. */
export interface TrackPresence {
  readonly hasAudio: boolean;
  readonly hasVideo: boolean;
}

/** One viewer's connection. None of the methods may throw; `write` never waits. */
export interface HubViewer {
  readonly encoding: Encoding;
  /** `bytes` is shared with other viewers and must not be changed. */
  write(bytes: Buffer): void;
  /** Written bytes that the operating system has not taken yet. */
  readonly queuedBytes: number;
  /** Number of viewers behind this one, which relays to them; absent: 1. */
  readonly audience?: number;
  /** Called when the broadcast has ended: ends after the queued bytes. */
  end(): void;
  /** Ends at once and drops the queued bytes. */
  cut(): void;
}
