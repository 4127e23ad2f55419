/** Builds the answer to a request from a stored response: 200, 206, 304 or 416, with its header section. RFC 9111 §4 */
import { formatAge, parseAge } from './age.ts';
import { doesIfRangeHold, isNotModified } from './conditional.ts';
import { coversRequest } from './coverage.ts';
import { formatDate, parseDate } from './dates.ts';
import { FieldNames } from './field-names.ts';
import { currentAge } from './freshness.ts';
import { allValues, firstValue, type RawHeaders, withField, withoutFields, withoutHopByHop } from './headers.ts';
import {
  type ByteSpan,
  formatContentRange,
  formatUnsatisfiedRange,
  parseRange,
  resolveRange,
  spanBytes,
} from './range.ts';
import type { Exchange, RequestFacts, Stored } from './stored.ts';
import { OWN_TARGETED_FIELD } from './targeted.ts';

/**
 * `headers` are complete except for connection-specific fields. A HEAD gets the same without the body.
 * Spans are inclusive positions in the *stored* body.
 */
export type StoredAnswer =
  /** The stored status and the whole body. */
  | { readonly kind: 'full'; readonly headers: RawHeaders }
  | { readonly kind: 'notModified'; readonly headers: RawHeaders }
  | { readonly kind: 'partial'; readonly headers: RawHeaders; readonly span: ByteSpan }
  /** Several ranges: each part's head, then its bytes, then `tail`. */
  | {
      readonly kind: 'multipart';
      readonly headers: RawHeaders;
      readonly parts: readonly { readonly head: string; readonly span: ByteSpan }[];
      readonly tail: string;
    }
  /** 416, without a body. */
  | { readonly kind: 'unsatisfiable'; readonly headers: RawHeaders }
  /** The stored part does not cover the request. */
  | { readonly kind: 'uncovered' };

export interface AnswerInput {
  readonly now: number;
  /**
   * Length of the stored body; `undefined` while it still arrives and the head does not announce it: ranges are then
   * ignored.
   */
  readonly bodyBytes: number | undefined;
  /** Boundary of a multipart answer: 1 to 70 letters or digits that do not occur in bodies by chance. */
  readonly boundary: string;
}

export function answerFromStored(request: RequestFacts, stored: Stored, input: AnswerInput): StoredAnswer {
  const headers = servedHeaders(stored, input.now);
  // RFC 9110 §13.2.2: conditions are evaluated before the range
  if (isNotModified(request, stored, input.now)) {
    return { kind: 'notModified', headers: withoutFields(headers, NOT_IN_304) };
  }
  if (!coversRequest(request, stored)) return { kind: 'uncovered' };
  return rangeAnswer(request, stored, headers, input) ?? fullAnswer(headers, input.bodyBytes);
}

/**
 * Returns the header section for the client that caused the fetch, from the origin's own response. It has Age only if
 * the response had one or the exchange took a second or more.
 */
export function firstHandHeaders(headers: RawHeaders, { requestAt, responseAt }: Exchange): RawHeaders {
  let kept = withoutHopByHop(headers, NOT_FOR_CLIENTS);
  const date = firstValue(kept, 'date');
  // RFC 9110 §6.6.1
  if (parseDate(date, responseAt) === undefined) kept = withField(kept, 'Date', formatDate(responseAt));
  const delayMs = responseAt - requestAt;
  if (delayMs < 1000) return kept;
  return withField(kept, 'Age', formatAge(parseAge(allValues(headers, 'age')) + delayMs)); // RFC 9111 §4.2.3
}

/** Returns the stored fields as clients receive them: Age is recomputed, Date and Expires are kept. RFC 9111 §4 */
function servedHeaders(stored: Stored, now: number): RawHeaders {
  return [...withoutFields(stored.headers, NOT_FOR_CLIENTS), 'Age', formatAge(currentAge(stored, now))];
}

function fullAnswer(headers: RawHeaders, bodyBytes: number | undefined): StoredAnswer {
  if (bodyBytes === undefined) return { kind: 'full', headers };
  return { kind: 'full', headers: withField(headers, 'Content-Length', String(bodyBytes)) };
}

/** Returns `undefined` without a range, or if it must be ignored. */
function rangeAnswer(
  request: RequestFacts,
  stored: Stored,
  headers: RawHeaders,
  { bodyBytes, boundary }: AnswerInput,
): StoredAnswer | undefined {
  const complete = stored.range?.complete ?? bodyBytes;
  const isRangeable = stored.status === 200 || stored.status === 206;
  if (request.range === undefined || complete === undefined || !isRangeable) return undefined;
  const ranges = parseRange(request.range);
  if (ranges === undefined || !doesIfRangeHold(request, stored)) return undefined; // RFC 9110 §14.2
  const spans = ranges.flatMap((range) => resolveRange(range, complete) ?? []);
  const base = withoutFields(headers, RANGE_FIELDS);
  const [span] = spans;
  if (span === undefined) {
    const unsatisfied = ['Content-Range', formatUnsatisfiedRange(complete), 'Content-Length', '0'];
    // RFC 9110 §15.5.17; metadata of the representation does not apply to this answer
    return { kind: 'unsatisfiable', headers: [...withoutFields(base, NOT_IN_304), ...unsatisfied] };
  }
  if (spans.length === 1) return partialAnswer(base, span, complete, stored.range?.first ?? 0);
  // Ranges that exceed the whole would only enlarge the answer: RFC 9110 §14.2
  const total = spans.reduce((sum, each) => sum + spanBytes(each), 0);
  return total > complete ? undefined : multipartAnswer(base, spans, complete, boundary);
}

function partialAnswer(base: RawHeaders, span: ByteSpan, complete: number, offset: number): StoredAnswer {
  const fields = ['Content-Range', formatContentRange(span, complete), 'Content-Length', String(spanBytes(span))];
  return {
    kind: 'partial',
    headers: [...base, ...fields],
    span: { first: span.first - offset, last: span.last - offset },
  };
}

/** RFC 9110 §14.6, §15.3.7.2 */
function multipartAnswer(
  base: RawHeaders,
  spans: readonly ByteSpan[],
  complete: number,
  boundary: string,
): StoredAnswer {
  const type = firstValue(base, 'content-type');
  const typeLine = type === undefined ? '' : `Content-Type: ${type}\r\n`;
  const parts = spans.map((span) => {
    const range = formatContentRange(span, complete);
    return { head: `\r\n--${boundary}\r\n${typeLine}Content-Range: ${range}\r\n\r\n`, span };
  });
  const tail = `\r\n--${boundary}--\r\n`;
  const bytes = parts.reduce((sum, { head, span }) => sum + head.length + spanBytes(span), tail.length);
  const headers = withField(base, 'Content-Type', `multipart/byteranges; boundary=${boundary}`);
  return { kind: 'multipart', headers: [...headers, 'Content-Length', String(bytes)], parts, tail };
}

/** Our own targeted field is not forwarded; `CDN-Cache-Control` is. RFC 9213 §2.2 */
const NOT_FOR_CLIENTS = new FieldNames([OWN_TARGETED_FIELD]);

/** Metadata of a representation that is not sent. RFC 9110 §15.4.5 */
const NOT_IN_304 = new FieldNames([
  'content-encoding',
  'content-language',
  'content-length',
  'content-md5',
  'content-range',
  'content-type',
]);

const RANGE_FIELDS = new FieldNames(['content-length', 'content-range']);
