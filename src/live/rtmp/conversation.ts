/** What an RTMP session and the owner of the streams say to each other. Types only. */
import type { HubViewer } from '#fanout/encoding.ts';
import type { MediaMessage } from '#fanout/media/message.ts';

/**
 * The stream that a client wants to publish or play, and what it says about itself. Names are as sent and not checked.
 */
export interface RtmpRequest {
  readonly clientAddress: string;
  /**
   * The host from `?vhost=` or `?domain=` behind the stream's name or the app, else from the connection's URL
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
  /** Empty: not said. */
  readonly flashVer: string;
  /** The page that a player or publisher is embedded in; empty: not said. */
  readonly pageUrl: string;
}

/** Decides what clients may do. Nothing is read from a client while a promise is pending. A rejection closes the connection. */
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

/** Takes what an accepted publisher sends. `end` is called exactly once, and nothing after it. */
export interface PublishSink {
  /**
   * Takes media in the order of arrival, with timestamps as sent (32 bits that wrap). `data` is never empty and is not
   * written to again.
   */
  take(message: MediaMessage): void;
  end(how: PublishEnd): void;
}

/** `lost`: the connection broke, was closed, or was silent for too long. A publisher that never sent media ends as `unpublished`. */
export type PublishEnd = { readonly kind: 'unpublished' } | { readonly kind: 'lost'; readonly detail: string };

/** The owner's side of an accepted player. `start` and `stop` alternate, beginning with `start`; `leave` is the last call. */
export interface RtmpPlayer {
  /** The client has been told that playing begins, or goes on after a pause: attach the viewer to the stream. */
  start(viewer: HubViewer): void;
  /** The client paused, chose other tracks (a `start` with another viewer follows), stopped or left: detach the viewer. */
  stop(): void;
  /** The client plays no more: it stopped or left. Called once, if there was a `start`. */
  leave(): void;
}

export interface RtmpConnection {
  readonly clientAddress: string;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** Written, and not yet taken by the operating system. */
  readonly queuedBytes: number;
  /** The announced size of all messages that have begun and are not complete. */
  readonly partialBytes: number;
  /**
   * Ends reading at once: nothing that has arrived or still arrives reaches the sink, whose `end` is called before this returns. Then
   * the client is told `status` and the connection ends; it is reset if it is still there after one second. Repeatable.
   */
  close(status?: RtmpStatus): void;
}

/** An error of the client's stream, such as `NetStream.Publish.Denied`. */
export interface RtmpStatus {
  readonly code: string;
  readonly description: string;
}
