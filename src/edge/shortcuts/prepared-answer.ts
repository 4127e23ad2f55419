/** What a shortcut gives, as its transports and the log see it. */
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

/** One answer, for the second or so in which nothing of its head changes. */
export interface PreparedAnswer extends LoggedAnswer {
  readonly reason: string;
  readonly headers: RawHeaders;
  readonly body: readonly Buffer[];
  /** Whose bytes those are, where they are the store's own: for `Pins`. */
  readonly held?: StoredBody;
  /** The answer as a transport has encoded it, kept for as long as the answer itself. */
  readonly written: { http2?: WrittenAnswer<ReadyFrames> | undefined };
}

/** An answer that was made ready before, as frames for any stream. */
export interface ReadyFrames {
  /** HEADERS, and where the body is here a DATA frame behind it, which end the stream if nothing else follows. */
  readonly frames: Buffer;
  /** Size of the field section, behind the head of the first frame. */
  readonly sectionBytes: number;
  /** Where the DATA frame begins; 0: there is none. */
  readonly dataAt: number;
}

export interface WrittenAnswer<T> {
  readonly head: T;
  /** Size of the head as counted in the log. */
  readonly headBytes: number;
  readonly bodyBytes: number;
  readonly logged: AnsweredPart;
}

/** One answer for as long as it is one, for a transport that writes over what time changes. */
export interface TimedAnswer extends LoggedAnswer {
  readonly reason: string;
  readonly bodyBytes: number;
  /** `undefined`: only the store has the body. */
  readonly kept: readonly Buffer[] | undefined;
  /** What time changes in its head: `Age`, or in its place, where the site says how long browsers keep it, `Expires`. */
  timed(now: number): TimedField;
  /** All fields, with that value in its place. */
  headersWith(name: string, value: string): RawHeaders;
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
