/** A request with a ready answer, as the log gets it, and the parts that it shares with other requests. */
import { type CountedRequest, type Counters, noCounters } from './counters.ts';
import type { CacheCode } from './line.ts';

/** The record of one hit; the caller may reuse it for the next. */
export interface HitRecord extends CountedRequest {
  readonly domainId: number;
  readonly endedAt: number;
  readonly durationMs: number;
  readonly answered: AnsweredPart;
  readonly client: ClientPart;
  /** Fields as received; start and end are equal for an absent field. */
  readonly fields: Buffer;
  readonly refererStart: number;
  readonly refererEnd: number;
  readonly userAgentStart: number;
  readonly userAgentEnd: number;
  /** Whether some byte of the fields must be escaped. */
  readonly hasEscapes: boolean;
}

/** Placeholder to which nothing is added. */
const NOT_COUNTED: Counters = noCounters();

/**
 * An answer of one domain that is given repeatedly. Writable members belong to the spool, which must be the same for
 * all uses.
 */
export class AnsweredPart implements CountedRequest {
  // The members that short lines need come first and are small integers: with many answers, none of them is in the
  // processor's cache, and neither would be the objects that they refer to.
  /** Number of the batch with its last whole line; 0 if there is none. */
  batch = 0;
  /** Number of that whole line in its batch, and then its milliseconds in the minute. */
  line = 0;
  ms = 0;
  readonly length: number;
  /** Short lines that `counters` do not include yet, and then their sums. */
  requests = 0;
  requestBytes = 0;
  responseBytes = 0;
  cacheCode: CacheCode = 'NONE';
  status = 0;
  /** Counters of that batch to which they are added. */
  counters = NOT_COUNTED;
  /** Result of `formatAnswered`. */
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.length = bytes.length;
    this.bytes = bytes;
  }
}

/** The client of one connection. Writable members belong to the spool, as in `AnsweredPart`. */
export class ClientPart {
  /** Result of `formatAddress`. */
  readonly address: Uint8Array;
  batch = 0;
  line = 0;
  /** Offset of its first field in that batch. */
  refererAt = 0;
  refererBytes = 0;
  userAgentAt = 0;
  userAgentBytes = 0;
  /** Approximate bytes of this client in a whole line, without the answer. */
  wholeBytes = 0;

  constructor(address: Uint8Array) {
    this.address = address;
  }
}
