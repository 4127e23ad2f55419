/** Errors of an authority: problem documents and `Retry-After`. RFC 8555 §6.7, RFC 7807 */
import { parseDate } from '#http/dates.ts';
import { parseObject } from '#lib/parse-object.ts';
import type { HttpAnswer } from './https.ts';

/** Thrown if the authority cannot be reached or is temporarily unavailable. */
export class Unreachable extends Error {
  /** Absent: it named no time. */
  readonly retryAfterMs: number | undefined;

  constructor(detail: string, { retryAfterMs, ...options }: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(detail, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Thrown if the authority refused the request. */
export class AcmeProblem extends Error {
  /** Problem type without its prefix, such as `rateLimited`; empty if the answer has none. */
  readonly type: string;
  /** Absent: it named no time. */
  readonly retryAfterMs: number | undefined;

  constructor(type: string, detail: string, retryAfterMs?: number) {
    super(detail);
    this.type = type;
    this.retryAfterMs = retryAfterMs;
  }
}

const PREFIX = 'urn:ietf:params:acme:error:';
const MAX_DETAIL_CHARS = 300;
const MAX_RETRY_AFTER_MS = 30 * 24 * 3_600_000;

/** `now`: when the answer arrived. */
export function parseProblem(answer: HttpAnswer, now: number): AcmeProblem | Unreachable {
  const { type, detail } = readProblem(parseObject(answer.body));
  const text = detail === '' ? `it answered ${answer.status}` : detail;
  const retryAfterMs = readRetryAfter(answer, now);
  if (answer.status >= 500 || type === 'serverInternal')
    return new Unreachable(text, retryAfterMs === undefined ? {} : { retryAfterMs });
  const isLimit = answer.status === 429 || type === 'rateLimited';
  return new AcmeProblem(isLimit ? 'rateLimited' : type, text, retryAfterMs);
}

/** Reads the problem document of an answer; missing members are empty. */
export function readProblem(value: unknown): { readonly type: string; readonly detail: string } {
  // `as`: an object's members are unknown values by their names.
  const { type, detail } = Object(value) as Record<'type' | 'detail', unknown>;
  return {
    type: typeof type === 'string' && type.startsWith(PREFIX) ? type.slice(PREFIX.length) : '',
    detail: typeof detail === 'string' ? cleanDetail(detail) : '',
  };
}

/** Makes a detail fit to be shown to customers and logged: one line, of a bounded length. */
export function cleanDetail(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, MAX_DETAIL_CHARS);
}

/**
 * Reads `Retry-After`, RFC 9110 §10.2.3: seconds, or a date, which is compared with the answer's own `Date` if it has
 * one. Returns 0 to 30 days; `undefined` if the field is absent or malformed. `now`: when the answer arrived.
 */
export function readRetryAfter({ header }: Pick<HttpAnswer, 'header'>, now: number): number | undefined {
  const text = header('retry-after')?.trim();
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS);
  const at = parseDate(text, now);
  if (at === undefined) return undefined;
  const afterMs = at - (parseDate(header('date'), now) ?? now);
  return Math.min(Math.max(afterMs, 0), MAX_RETRY_AFTER_MS);
}
