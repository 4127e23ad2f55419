/** A request whose answer was made before, as the log gets it, and the parts that it has in common with others. */
import { type CountedRequest, type Counters, noCounters } from './counters.ts';
import type { CacheCode } from './line.ts';

/** May be used for the next one as soon as it is taken. */
export interface HitRecord extends CountedRequest {
  readonly domainId: number;
  readonly endedAt: number;
  readonly durationMs: number;
  readonly answered: AnsweredPart;
  readonly client: ClientPart;
  /** Bytes as they came off the wire; start and end are equal for an absent field. */
  readonly fields: Buffer;
  readonly refererStart: number;
  readonly refererEnd: number;
  readonly userAgentStart: number;
  readonly userAgentEnd: number;
  /** Some byte of theirs may not stand in a line. */
  readonly hasEscapes: boolean;
}

/** Nothing is added to it. */
const NOT_COUNTED: Counters = noCounters();

/**
 * An answer of one domain that is given repeatedly. Writable members belong to the spool, which must be the same for
 * all uses.
 */
export class AnsweredPart implements CountedRequest {
  // What each short line looks at is first, and small numbers: of many answers each lies in no cache of the processor, and so would
  // each thing that it points to.
  /** Number of the batch that holds its last whole line; 0: none. */
  batch = 0;
  /** Which of its whole lines that was, and when in its minute. */
  line = 0;
  ms = 0;
  readonly length: number;
  /** Short lines that `counters` do not have yet; all of them together. */
  requests = 0;
  requestBytes = 0;
  responseBytes = 0;
  cacheCode: CacheCode = 'NONE';
  status = 0;
  /** Counters of that batch to which such requests are added. */
  counters = NOT_COUNTED;
  /** `formatAnswered`. */
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.length = bytes.length;
    this.bytes = bytes;
  }
}

/** The client of one connection. Writable members belong to the spool, as above. */
export class ClientPart {
  /** `formatAddress`. */
  readonly address: Uint8Array;
  batch = 0;
  line = 0;
  /** Where its fields stand in that batch. */
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
