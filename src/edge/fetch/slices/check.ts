/**
 * Decides whether a response is a slice, and of which object: bytes that could be of different objects are never
 * joined. Pure. Edge rule 9
 */
import { hash } from 'node:crypto';
import { isStrong } from '#http/entity-tag.ts';
import { FieldNames } from '#http/field-names.ts';
import { allValues, firstValue, hasField, withoutFields } from '#http/headers.ts';
import { type ByteSpan, parseContentRange, spanBytes } from '#http/range.ts';
import { expectedBodyBytes } from '#http/store.ts';
import type { PartialRange, ResponseHead, Stored } from '#http/stored.ts';

/**
 * Returns the response's range if it is exactly the one that was asked for, without content or transfer coding and with
 * a matching `Content-Length`; otherwise `undefined`.
 */
export function readPartRange({ status, headers }: ResponseHead, asked: ByteSpan): PartialRange | undefined {
  if (status !== 206 || hasField(headers, 'transfer-encoding') || hasField(headers, 'content-encoding'))
    return undefined;
  const [ranges, lengths] = [allValues(headers, 'content-range'), allValues(headers, 'content-length')];
  const range = ranges.length === 1 ? parseContentRange(ranges[0] ?? '') : undefined;
  if (range === undefined || lengths.length !== 1 || lengths[0] !== String(spanBytes(range))) return undefined;
  const last = Math.min(asked.last, range.complete - 1);
  return range.first === asked.first && range.last === last ? range : undefined;
}

/** Returns the head that a response with the whole object would have had. RFC 9111 §3.4 */
export function wholeHead({ headers }: ResponseHead, totalBytes: number): ResponseHead {
  const kept = withoutFields(headers, OF_THE_PART);
  const accepts = hasField(kept, 'accept-ranges') ? [] : ['Accept-Ranges', 'bytes'];
  return { status: 200, reason: 'OK', headers: [...kept, ...accepts, 'Content-Length', String(totalBytes)] };
}

/**
 * Returns an identifier of an object's bytes, equal for two heads only if a strong validator, the length and the
 * variant are the same; `undefined` if there is no strong validator or no length. RFC 9110 §8.8.1
 */
export function generationOf(whole: Stored): string | undefined {
  const totalBytes = expectedBodyBytes(whole);
  const validator = strongValidator(whole);
  if (totalBytes === undefined || validator === undefined) return undefined;
  const parts = [validator, String(totalBytes), whole.vary.join(), whole.varyKey];
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, GENERATION_LENGTH);
}

/** Whether a part belongs to this object. */
export function isOfObject(whole: Stored, range: PartialRange, { headers }: ResponseHead): boolean {
  if (range.complete !== expectedBodyBytes(whole) || firstValue(headers, 'etag') !== whole.etag) return false;
  const hasStrongTag = whole.etag !== undefined && isStrong(whole.etag);
  // RFC 9110 §15.3.7: after If-Range an origin need not repeat Last-Modified
  return hasStrongTag || firstValue(headers, 'last-modified') === firstValue(whole.headers, 'last-modified');
}

/**
 * Whether a response that is not a slice shows that the object has changed or is gone. Any other status may concern one
 * client only.
 */
export function isChange(status: number): boolean {
  return status < 300 || status === 404 || status === 410 || status === 416;
}

/**
 * Returns a validator for byte equality. RFC 9110 §8.8.2.2: a `Last-Modified` date is strong if it is at least a second
 * older than the response.
 */
function strongValidator({ etag, headers, lastModifiedAt, dateAt }: Stored): string | undefined {
  if (etag !== undefined && isStrong(etag)) return etag;
  if (lastModifiedAt === undefined || dateAt - lastModifiedAt < 1000) return undefined;
  return `${etag ?? ''} ${firstValue(headers, 'last-modified')}`;
}

/** Characters of base64url: 132 bits, so collisions are out of the question. */
const GENERATION_LENGTH = 22;
const OF_THE_PART = new FieldNames(['content-digest', 'content-length', 'content-md5', 'content-range']);
