/** The interface between RTMP sessions and the owner of the streams. Types only. */
import type { HubViewer } from '#fanout/encoding.ts';
import type { MediaMessage } from '#fanout/media/message.ts';

/** The stream that a client wants to publish or play, and facts about the client. Names are as sent and not checked. */
export interface RtmpRequest {
  readonly clientAddress: string;
  /**
   * The host from `?vhost=` or `?domain=` after the stream's name or the app, else from the connection's URL
   * (`tcUrl`): lower case, without port. `undefined`: the client names no readable host.
   */
  readonly host: string | undefined;
  /** The app without its query and outer slashes. */
  readonly app: string;
  /** The stream's name without its query. May be empty. */
  readonly stream: string;
  /** Parameters of the stream's name, then those of the app that the name does not have. */
  readonly query: URLSearchParams;
  readonly isTls: boolean;
  /** The client's name for itself; empty if not sent. */
  readonly flashVer: string;
  /** The page that a player or publisher is embedded in; empty if not sent. */
  readonly pageUrl: string;
}

/**
 * Decides what clients may do. Nothing is read from a client while a promise is pending. A rejection closes the
 * connection.
 */
export interface RtmpHooks {
  publish(request: RtmpRequest, connection: RtmpConnection): Promise<PublishAnswer>;
  play(request: RtmpRequest, connection: RtmpConnection): Promise<PlayAnswer>;
}

export type PublishAnswer =
  | { readonly kind: 'accepted'; readonly sink: PublishSink }
  | Refused<'NetStream.Publish.BadName' | 'NetStream.Publish.Denied'>;

export type PlayAnswer =
  | { readonly kind: 'accepted'; readonly player: RtmpPlayer }
  | Refused<'NetStream.Play.StreamNotFound' | 'NetStream.Play.Failed'>;

interface Refused<Code extends string> {
  readonly kind: 'refused';
  readonly code: Code;
  /** Sent to the client. */
  readonly description: string;
  /** Written to the log. */
  readonly reason: string;
}

/** Receives the media of an accepted publisher. `end` is called exactly once, as the last call. */
export interface PublishSink {
  /**
   * Takes media in the order of arrival, with timestamps as sent (32 bits that wrap). `data` is never empty and is not
   * written to again.
   */
  take(message: MediaMessage): void;
  end(how: PublishEnd): void;
}

/**
 * `lost`: the connection broke, was closed, or was silent for too long. A publisher that never sent media ends as
 * `unpublished`.
 */
export type PublishEnd = { readonly kind: 'unpublished' } | { readonly kind: 'lost'; readonly detail: string };

/**
 * The owner's side of an accepted player. `start` and `stop` alternate, beginning with `start`; `leave` is the last
 * call.
 */
export interface RtmpPlayer {
  /** Called when playback begins or continues after a pause: attach the viewer to the stream. */
  start(viewer: HubViewer): void;
  /** Called on a pause, a change of tracks (a `start` with another viewer follows), or the end: detach the viewer. */
  stop(): void;
  /** Called once at the end of playback, if there was a `start`. */
  leave(): void;
}

export interface RtmpConnection {
  readonly clientAddress: string;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** Written bytes that the operating system has not taken yet. */
  readonly queuedBytes: number;
  /** The announced size of all messages that have begun and are not complete. */
  readonly partialBytes: number;
  /**
   * Ends the connection. Reading stops at once: no further media reaches the sink, whose `end` is called before this
   * returns. Then `status` is sent and the connection is closed, or reset if it is still open after one second.
   * Idempotent.
   */
  close(status?: RtmpStatus): void;
}

/** Error status of the client's stream, such as `NetStream.Publish.Denied`. */
export interface RtmpStatus {
  readonly code: string;
  readonly description: string;
}
