/** What stage 10 sends: a head, a body that is not read yet, and the words that say how it came about. */
import type { Socket } from 'node:net';
import type { RawHeaders } from '#http/headers.ts';
import type { ByteSpan } from '#http/range.ts';
import type { ResponseHead } from '#http/stored.ts';
import type { OriginBody } from '../origin/origin-request.ts';
import type { CacheMark } from '../reasons.ts';
import type { SharedBody } from '../store/shared-body.ts';
import type { BodyWriter, CachedResponse, StoredBody } from '../store/store.ts';
import type { Viewer } from '../viewer.ts';
import type { FetchRest } from './follow-body.ts';

export interface EdgeAnswer {
  readonly status: number;
  readonly reason: string;
  /** Complete but for what the connection and this hop add. */
  readonly headers: RawHeaders;
  readonly body: AnswerBody;
  readonly mark: CacheMark;
  /** What it gives, in whole or in part or as a 304; absent on the edge's own pages. */
  readonly response?: ResponseHead;
  /** The same, where it comes out of the store. */
  readonly stored?: CachedResponse;
  /** What of it comes out of the store was read from the disk; of an object in slices, the first one. */
  readonly isFromDisk?: boolean;
  /** A validation brought it: the origin no longer has what was stored. */
  readonly isReplacement?: boolean;
  /** The connection ends with this answer: what follows on it cannot be trusted or is not wanted. */
  readonly closes?: boolean;
  /**
   * The answer is of a live stream, whose state is checked on each request: it must not be reused without that check.
   */
  readonly isLive?: boolean;
}

export type AnswerBody =
  | { readonly kind: 'none' }
  /** Pieces in order: bytes of ours, and spans of a stored body. */
  | { readonly kind: 'pieces'; readonly pieces: readonly BodyPiece[] }
  | { readonly kind: 'stream'; readonly stream: OriginBody; readonly fill: Fill | undefined }
  /** What another request's answer is bringing into the store. */
  | { readonly kind: 'shared'; readonly shared: SharedBody; readonly fetchRest: FetchRest }
  /** The connection to the origin after a 101. The client's is joined to it while `isAllowed` returns true. */
  | { readonly kind: 'tunnel'; readonly origin: Socket; readonly isAllowed: () => boolean }
  /** A broadcast, for as long as the viewer watches it. */
  | { readonly kind: 'session'; readonly session: LiveSession }
  /** No body for the client; what streams in is for the store alone. */
  | { readonly kind: 'fill'; readonly stream: OriginBody; readonly fill: Fill | undefined };

/** A viewer of HTTP-FLV or WebSocket-FLV. */
export interface LiveSession {
  readonly kind: 'flv' | 'websocket';
  readonly ledger: LineLedger;
  /** Resolves when the viewer's connection has ended. Never rejects. */
  run(viewer: Viewer, answer: EdgeAnswer): Promise<void>;
}

/** What the lines of an answer that lasts have told so far. */
export interface LineLedger {
  lines: number;
  /** When the last one was written, or it began. */
  at: number;
  requestBytes: number;
  responseBytes: number;
}

export type BodyPiece = Buffer | { readonly body: StoredBody; readonly span: ByteSpan };

/** Gathers what streams by, for the store. */
export interface Fill {
  readonly writer: BodyWriter;
  /** What the origin says the body will have. */
  readonly announcedBytes: number | undefined;
  /** The body is whole: store it. */
  readonly onWhole: (body: StoredBody) => void;
  /** The body as shared with requests that read along. */
  readonly shared?: SharedBody;
  readonly fetchRest?: FetchRest;
  /** The body is stored, or will not be. */
  readonly onEnd?: () => void;
}

/** A slice is not to be had any more: the answer must be cut. */
export class SliceLost extends Error {}

export const NO_BODY: AnswerBody = { kind: 'none' };
