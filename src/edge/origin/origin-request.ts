/** What an attempt at an origin is given, and what it results in, whichever client makes it. */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { RawHeaders } from '#http/headers.ts';
import type { Cancellation } from '#lib/cancellation.ts';
import type { OriginFailure } from '../reasons.ts';
import type { OwnBody } from './own/body.ts';
import type { OriginPools } from './pools.ts';
import type { ReadTurns } from './read-turns.ts';
import type { RequestBody } from './request-body.ts';

/** A body as the client that received it gives it: see `asReadable`. */
export type OriginBody = Readable | OwnBody;

export interface OriginRequest {
  /** Whose request it is. */
  readonly domainId: number;
  /** See `clientNetwork`. */
  readonly client: string;
  readonly method: string;
  /** Path and query, as they go out. */
  readonly target: string;
  /** Fields with `Host` and without anything hop-by-hop. */
  readonly headers: RawHeaders;
  readonly body: RequestBody | undefined;
  /** What the connection is to go on as, if the origin agrees: then its 101 is the response. */
  readonly upgrade?: 'websocket' | undefined;
  /** Interim responses other than 100 and 101, in order, as received; at most `MAX_INTERIM`. */
  readonly onInterim: (status: number, headers: RawHeaders) => void;
  /** The response's body broke off, by no wish of ours. */
  readonly onCut: (detail: string) => void;
  /** Whether it must not go out on a connection that was idle. */
  readonly needsFresh?: boolean;
  /** Signal that drops the connection until the response's head has arrived; after it, destroying the body does. */
  readonly signal: Cancellation;
}

export interface OriginResponse {
  readonly status: number;
  readonly reason: string;
  /** Fields as received, without those in which an origin speaks as the viewer's server. */
  readonly headers: RawHeaders;
  /** Trailers are dropped. Destroying it drops the connection unless it has ended. Errors mean an incomplete body. */
  readonly body: OriginBody;
  /** Connection of a requested 101, owned by the caller from here on. It is the body too. */
  readonly upgraded?: Socket;
  readonly requestAt: number;
  readonly responseAt: number;
  /** Reason why the target of this redirect could not be asked: the redirect stands in for it. */
  readonly unfollowed?: OriginFailure;
}

export type AttemptResult =
  | { readonly kind: 'response'; readonly response: OriginResponse }
  | {
      readonly kind: 'failure';
      readonly failure: OriginFailure;
      /** Detail for the log. */
      readonly detail: string;
      /** Whether any byte of the request may have reached the origin. */
      readonly isSent: boolean;
      readonly isReused: boolean;
    }
  /** Aborted by the signal, or because the request's body broke off. */
  | { readonly kind: 'aborted' };

export interface AttemptTools {
  readonly pools: OriginPools;
  readonly clock: () => number;
  /**
   * Limit for the response's head after the first interim response: undici's own limit starts again with each of them.
   */
  readonly firstByteTimeoutMs: number;
  /** Read turns that all requests of the worker share. */
  readonly readTurns: ReadTurns;
  /** Counts bytes of a body as they arrive. */
  readonly countBytes: (domainId: number, bytes: number) => void;
}

/** The connection was given to others, since the client was slow. */
export class TakenBack extends Error {}

/** Destroys a body that is not needed, and its connection: an error page is not worth reading to its end. */
export function discardBody({ body }: Pick<OriginResponse, 'body'>): void {
  if (body instanceof Readable) body.on('error', () => undefined); // nobody waits for it
  body.destroy();
}
