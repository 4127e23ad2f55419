/** Input and result of an attempt at an origin, the same for both clients. */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { RawHeaders } from '#http/headers.ts';
import type { Cancellation } from '#lib/cancellation.ts';
import type { OriginFailure } from '../reasons.ts';
import type { TierFresh } from '../tier-fields.ts';
import type { OwnBody } from './own/body.ts';
import type { OriginPools } from './pools.ts';
import type { ReadTurns } from './read-turns.ts';
import type { RequestBody } from './request-body.ts';

/** A response body, in the form of the client that received it: see `asReadable`. */
export type OriginBody = Readable | OwnBody;

export interface OriginRequest {
  /** Id of the domain that the request belongs to. */
  readonly domainId: number;
  /** See `clientNetwork`. */
  readonly client: string;
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  /** Fields with `Host` and without hop-by-hop fields. */
  readonly headers: RawHeaders;
  readonly body: RequestBody | undefined;
  /** Protocol to upgrade to; if the origin agrees, its 101 is the response. */
  readonly upgrade?: 'websocket' | undefined;
  /** Called for interim responses other than 100 and 101, in order, as received; at most `MAX_INTERIM` times. */
  readonly onInterim: (status: number, headers: RawHeaders) => void;
  /** Called if the response's body breaks off and was not dropped on purpose. */
  readonly onCut: (detail: string) => void;
  /** Whether the request must not be sent on a connection that was idle. */
  readonly needsFresh?: boolean;
  /** Aborting closes the connection until the response's head has arrived; after that, destroying the body does. */
  readonly signal: Cancellation;
}

export interface OriginResponse {
  readonly status: number;
  readonly reason: string;
  /** Fields as received, without those by which an origin speaks as the viewer's server. */
  readonly headers: RawHeaders;
  /**
   * The body, without trailers. Destroying it closes the connection unless the body has ended. An error means that the
   * body is incomplete.
   */
  readonly body: OriginBody;
  /** Connection of a requested 101, owned by the caller from here on. It is also the body. */
  readonly upgraded?: Socket;
  readonly requestAt: number;
  readonly responseAt: number;
  /** Why the target of this redirect could not be asked; the redirect is then the answer. */
  readonly unfollowed?: OriginFailure;
  /** What a parent says of its answer; absent in answers of origins. */
  readonly told?: TierFresh;
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
   * Limit for the response's head, counted from the first interim response: undici's own limit restarts with each of
   * them.
   */
  readonly firstByteTimeoutMs: number;
  /** Read turns shared by all requests of the worker. */
  readonly readTurns: ReadTurns;
  /** Counts bytes of a body as they arrive. */
  readonly countBytes: (domainId: number, bytes: number) => void;
  /** Counts the time from sending a request until the head of its response. */
  readonly countLatency: (durationMs: number) => void;
}

/** The connection was taken back for other requests, since the client was slow. */
export class TakenBack extends Error {}

/** Destroys a body that is not needed, and its connection: reading an error page to its end is not worth it. */
export function discardBody({ body }: Pick<OriginResponse, 'body'>): void {
  if (body instanceof Readable) body.on('error', () => undefined); // the body has no reader
  body.destroy();
}
