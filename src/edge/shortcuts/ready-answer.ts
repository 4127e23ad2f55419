/** The answer of a shortcut, as its transports and the log see it. */
import type { RawHeaders } from '#http/headers.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import { AnsweredPart } from '#logs/hit-record.ts';
import { type CacheCode, formatAnswered } from '#logs/line.ts';
import type { StoredBody } from '../store/store.ts';

/** What the log says of it. */
export interface LoggedAnswer {
  readonly domainId: number;
  readonly host: string;
  readonly target: string;
  readonly contentType: string | undefined;
  readonly status: 200 | 304;
  readonly cacheCode: CacheCode;
}

/** A stored answer that may be sent again, as the encoders of each transport see it. */
export interface ReadyAnswer extends LoggedAnswer {
  readonly reason: string;
  readonly bodyBytes: number;
  /** A body that is kept with the answer; `undefined`: only the store has it. */
  readonly kept: ReadyBody | undefined;
  /** What time changes in its head: `Age`, or in its place, where the site says how long browsers keep it, `Expires`. */
  timed(now: number): TimedField;
  /** All fields, with that value in its place. */
  headersWith(name: string, value: string): RawHeaders;
}

export interface ReadyBody {
  readonly pieces: readonly Buffer[];
  /** The store's body whose memory the pieces are, for `Pins`; `undefined`: they are copies. */
  readonly held: StoredBody | undefined;
}

/** An answer as frames of a stream whose number is not known yet, from `from` until `to`. */
export interface WrittenHttp2 {
  /** HEADERS, and where the body is here a DATA frame behind it, which end the stream if nothing else follows. */
  readonly frames: Buffer;
  /** Size of the field section, behind the head of the first frame. */
  readonly sectionBytes: number;
  /** Where the DATA frame begins; 0: there is none. */
  readonly dataAt: number;
  /** Size of the head as counted in the log. */
  readonly headBytes: number;
  readonly logged: AnsweredPart;
  readonly from: number;
  readonly to: number;
}

export interface TimedField {
  readonly name: 'age' | 'expires';
  readonly value: string;
  /** Another value then. */
  readonly changesAt: number;
}

export type PreparedVersion = '1.1' | '2.0';

/** The fields of its line that are the same each time. */
export function formatPrepared(answer: LoggedAnswer, httpVersion: PreparedVersion): AnsweredPart {
  const { host, target, cacheCode, status, contentType } = answer;
  const text = formatAnswered({ host, method: 'GET', target, httpVersion, cacheCode, status, contentType });
  return new AnsweredPart(ownBytes([Buffer.from(text)]));
}
