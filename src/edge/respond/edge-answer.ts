/** The answer that stage 10 sends: a head, an unread body, and the cache mark that says where it came from. */
import type { Socket } from 'node:net';
import type { RawHeaders } from '#http/headers.ts';
import type { ByteSpan } from '#http/range.ts';
import type { ResponseHead, Stored } from '#http/stored.ts';
import type { OriginBody } from '../origin/origin-request.ts';
import type { CacheMark } from '../reasons.ts';
import type { SharedBody } from '../store/shared-body.ts';
import type { BodyWriter, CachedResponse, StoredBody } from '../store/store.ts';
import type { Viewer } from '../viewer.ts';
import type { FetchRest } from './follow-body.ts';

export interface EdgeAnswer {
  readonly status: number;
  readonly reason: string;
  /** All fields except those that the connection and this hop add. */
  readonly headers: RawHeaders;
  readonly body: AnswerBody;
  readonly mark: CacheMark;
  /** Response that is sent, in whole or in part or as a 304; absent for the edge's own pages. */
  readonly response?: ResponseHead;
  /** The same response, if it is stored. */
  readonly stored?: CachedResponse;
  /** Head of the response as it will be stored, if its body arrives whole. */
  readonly admitted?: Stored | undefined;
  /** Whether the stored body was read from the disk; of an object in slices, the first slice. */
  readonly isFromDisk?: boolean;
  /** Whether a validation returned it in place of the stored response. */
  readonly isReplacement?: boolean;
  /** Whether the connection ends with this answer, because later bytes cannot be trusted or are not wanted. */
  readonly closes?: boolean;
  /**
   * The answer is of a live stream, whose state is checked on each request: it must not be reused without that check.
   */
  readonly isLive?: boolean;
  /** Name of this cache in `Cache-Status`, in an answer to another edge. */
  readonly cacheName?: string;
}

export type AnswerBody =
  | { readonly kind: 'none' }
  /** Pieces in order: bytes of ours, and spans of a stored body. */
  | { readonly kind: 'pieces'; readonly pieces: readonly BodyPiece[] }
  | { readonly kind: 'stream'; readonly stream: OriginBody; readonly fill: Fill | undefined }
  /** Body in transit into the store, for another request. */
  | { readonly kind: 'shared'; readonly shared: SharedBody; readonly fetchRest: FetchRest }
  /** The connection to the origin after a 101. The client's is joined to it while `isAllowed` returns true. */
  | { readonly kind: 'tunnel'; readonly origin: Socket; readonly isAllowed: () => boolean }
  /** A broadcast, as long as the viewer watches it. */
  | { readonly kind: 'session'; readonly session: LiveSession }
  /** No body for the client; the stream is for the store alone. */
  | { readonly kind: 'fill'; readonly stream: OriginBody; readonly fill: Fill | undefined };

/** A viewer of HTTP-FLV or WebSocket-FLV. */
export interface LiveSession {
  readonly kind: 'flv' | 'websocket';
  readonly ledger: LineLedger;
  /** Resolves when the viewer's connection has ended. Never rejects. */
  run(viewer: Viewer, answer: EdgeAnswer): Promise<void>;
}

/** Totals that the log lines of a long-lived answer have covered so far. */
export interface LineLedger {
  lines: number;
  /** Time of the last line, or of the beginning. */
  at: number;
  requestBytes: number;
  responseBytes: number;
}

export type BodyPiece = Buffer | { readonly body: StoredBody; readonly span: ByteSpan };

/** Collects a streamed body for the store. */
export interface Fill {
  readonly writer: BodyWriter;
  /** Length that the origin announced. */
  readonly announcedBytes: number | undefined;
  /** Stores the complete body. */
  readonly onWhole: (body: StoredBody) => void;
  /** Body as shared with other requests. */
  readonly shared?: SharedBody;
  readonly fetchRest?: FetchRest;
  /** Called when the body is stored or given up. */
  readonly onEnd?: () => void;
}

/** Thrown if a slice is no longer available, so that the answer must be cut. */
export class SliceLost extends Error {}

export const NO_BODY: AnswerBody = { kind: 'none' };
