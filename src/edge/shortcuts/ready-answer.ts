/** The answer of a shortcut, as seen by its transports and the log. */
import type { RawHeaders } from '#http/headers.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import { AnsweredPart } from '#logs/hit-record.ts';
import { type CacheCode, formatAnswered } from '#logs/line.ts';
import type { StoredBody } from '../store/store.ts';

/** The parts of an answer that are logged. */
export interface LoggedAnswer {
  readonly domainId: number;
  readonly host: string;
  readonly target: string;
  readonly contentType: string | undefined;
  readonly status: 200 | 304;
  readonly cacheCode: CacheCode;
}

/** A stored answer that may be sent again, as seen by the encoders of each transport. */
export interface ReadyAnswer extends LoggedAnswer {
  readonly reason: string;
  readonly bodyBytes: number;
  /** Body kept with the answer; `undefined` if only the store has it. */
  readonly kept: ReadyBody | undefined;
  /** The field that changes with time: `Age`, or `Expires` if the site sets how long browsers keep the answer. */
  timed(now: number): TimedField;
  /** Returns all fields, with the timed field's value replaced. */
  headersWith(name: string, value: string): RawHeaders;
}

export interface ReadyBody {
  readonly pieces: readonly Buffer[];
  /** The store's body whose memory the pieces are, for `Pins`; `undefined` if they are copies. */
  readonly held: StoredBody | undefined;
}

/** An answer as frames of a stream whose number is not known yet; valid from `from` until `to`. */
export interface WrittenHttp2 {
  /** HEADERS, followed by a DATA frame if the body is small and kept. END_STREAM is set unless more frames follow. */
  readonly frames: Buffer;
  /** Size of the field section, after the header of the first frame. */
  readonly sectionBytes: number;
  /** Offset of the DATA frame; 0 if there is none. */
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
  /** Epoch milliseconds at which the value changes. */
  readonly changesAt: number;
}

export type PreparedVersion = '1.1' | '2.0';

/** Formats the fields of an answer's log line that are the same each time. */
export function formatPrepared(answer: LoggedAnswer, httpVersion: PreparedVersion): AnsweredPart {
  const { host, target, cacheCode, status, contentType } = answer;
  const text = formatAnswered({ host, method: 'GET', target, httpVersion, cacheCode, status, contentType });
  return new AnsweredPart(ownBytes([Buffer.from(text)]));
}
