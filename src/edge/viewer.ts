/**
 * One request of a client and the way its answer goes out: all that the pipeline knows of a transport. There are three,
 * `http1/bare-viewer.ts`, `node-http/http1-viewer.ts` and `http2/viewer.ts` of `transport/`.
 */
import type { Socket } from 'node:net';
import { FieldNames } from '#http/field-names.ts';
import type { RawHeaders } from '#http/headers.ts';
import type { Cancellation } from '#lib/cancellation.ts';
import type { Refusal } from './early-refusal.ts';
import type { IncomingBody } from './incoming-body.ts';
import type { ReceivedRequest } from './request.ts';

export interface Viewer {
  readonly received: ReceivedRequest;
  /** Aborts when the client is gone before its answer is complete. */
  readonly signal: Cancellation;
  /** 0 until there is a head. */
  readonly statusSent: number;
  readonly isGone: boolean;
  /** Resolves when the answer is out, or the client is gone. */
  readonly ended: Promise<void>;
  /** The whole answer went to the system, or the connection was given away. */
  readonly isFinished: boolean;
  /** Request line, header section and as much of the body as was passed on, or what came after the connection was given away. */
  readonly receivedBytes: number;
  /** Bytes sent of this answer, heads included, even if it was cut short. */
  readonly sentBytes: number;
  readonly maxBodyBytes: number;
  /** The body, to be read by the caller that passes it on; the same one each time. */
  openBody(): IncomingBody;
  /** A client that does not take them misses them. */
  sendInterim(status: number, headers: RawHeaders): void;
  /**
   * Goes out with the first byte after it, or with the end; until then another may take its place. `isEndless`: a body without
   * a length, which over HTTP/1 ends with the connection, so that its bytes need no framing.
   */
  sendHead(status: number, reason: string, headers: RawHeaders, isEndless?: boolean): void;
  /** The head is out. */
  readonly isBegun: boolean;
  /** When the head went out, by the steady clock; `undefined` before. */
  readonly begunAt: number | undefined;
  /**
   * Sends the head, a 101, and gives the connection away; what it carries from here on counts as this request's.
   * `undefined`: the client is gone.
   */
  switchProtocols(): Socket | undefined;
  /** False: the client reads more slowly than this; wait for `drained` where nothing may pile up. */
  write(chunk: Buffer): boolean;
  /** The same for bytes that are lent for the time of the call: their memory is used again. */
  writeLent(chunk: Buffer): boolean;
  /** What the client has not taken yet. */
  readonly queuedBytes: number;
  /** Resolves when there is room again, or the client is gone; one that takes nothing for too long is cut. */
  drained(): Promise<void>;
  /** Resolves when all of it went to the system, or the client is gone. `undefined`: that is so already. */
  end(): Promise<void> | undefined;
  /** What the request turned out to be while it arrived: none. */
  readonly refusal: Refusal | undefined;
  /** Ends the answer so that the client sees that it is not whole, whose fault `status` says in the log. */
  cut(status: CutStatus): void;
  /** `undefined`: it was not cut, or the client had left before. */
  readonly cutStatus: CutStatus | undefined;
}

/** Log status of an answer that was cut: by a fault of ours, by its origin, or by a shutdown or lack of memory. */
export type CutStatus = 500 | 502 | 503;

/** Fields of the final response only: its framing (RFC 9110 §8.6), and what this hop says of it. */
export const NOT_IN_INTERIM = new FieldNames(['content-length', 'x-cache']);
