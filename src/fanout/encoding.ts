/** How a hub writes a stream to its viewers, and what it needs of a viewer. */
import type { MediaMessage } from './media/message.ts';

/** A byte format of a stream. Viewers with the same `name` share encoded bytes. */
export interface Encoding {
  readonly name: string;
  /** What stands before the first message, e.g. the FLV file header; may be empty. */
  begin(tracks: TrackPresence): Buffer;
  /** Called once for each message, however many viewers there are. */
  encode(message: MediaMessage): Buffer;
}

/** What a broadcast has had so far. */
export interface TrackPresence {
  readonly hasAudio: boolean;
  readonly hasVideo: boolean;
}

/** One viewer's connection. None of the methods may throw; `write` never waits. */
export interface HubViewer {
  readonly encoding: Encoding;
  /** `bytes` is shared with other viewers and must not be changed. */
  write(bytes: Buffer): void;
  /** Bytes written that the client's system has not taken yet. */
  readonly queuedBytes: number;
  /** Viewers that it writes on to; absent: it is one itself. */
  readonly audience?: number;
  /** The broadcast is over: sends what is queued, then ends. */
  end(): void;
  /** Ends at once; what is queued is lost. */
  cut(): void;
}
