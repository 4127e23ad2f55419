/** Which responses are compressed, and what their heads say then. Pure. Edge rule 8 */
import type { ContentCoding } from '#http/content-coding.ts';
import { isStrong } from '#http/entity-tag.ts';
import {
  allValues,
  firstValue,
  hasField,
  listMembers,
  type RawHeaders,
  withField,
  withoutFields,
} from '#http/headers.ts';

/** Less is not worth the client's time either. */
const MIN_BYTES = 1024;
/** What is larger keeps its length and its ranges. */
export const MAX_COMPRESSED_BYTES = 10 * 1024 * 1024;

export interface Compressible {
  readonly status: number;
  readonly headers: RawHeaders;
  /** Length of the whole body; `undefined`: not known yet. */
  readonly bodyBytes: number | undefined;
}

/**
 * Whether clients get it coded or not by what they accept, so that each answer of it must say `Vary`. A part speaks of its
 * whole, though it is never coded itself.
 */
export function isCompressible({ status, headers, bodyBytes }: Compressible): boolean {
  if (status !== 200 && status !== 206) return false;
  if (bodyBytes !== undefined && (bodyBytes < MIN_BYTES || bodyBytes > MAX_COMPRESSED_BYTES)) return false;
  return TYPES.has(mediaType(headers)) && !hasField(headers, 'content-encoding') && !forbidsTransform(headers);
}

/** RFC 9110 §12.5.5: also where the answer is not coded, or a cache would give it to everyone. */
export function withVary(headers: RawHeaders): RawHeaders {
  const lines = allValues(headers, 'vary');
  const members = listMembers(lines);
  if (members.includes('accept-encoding') || members.includes('*')) return headers;
  return withField(headers, 'Vary', [...lines, 'Accept-Encoding'].join(', '));
}

/** Fields of the same response in a coding; with the length where it is known. */
export function codedHeaders(headers: RawHeaders, coding: ContentCoding, codedBytes?: number): RawHeaders {
  const length = codedBytes === undefined ? [] : ['Content-Length', String(codedBytes)];
  return [...withoutFields(weaken(headers), OF_UNCODED_BYTES), 'Content-Encoding', coding, ...length];
}

/** Fields of a 304 to a client that has, or may have, the coded response. RFC 9110 §15.4.5 */
export function codedHeadersOf304(headers: RawHeaders): RawHeaders {
  return withoutFields(weaken(headers), OF_UNCODED_BYTES);
}

/** RFC 9110 §8.8.3.3: two codings are not the same bytes. */
function weaken(headers: RawHeaders): RawHeaders {
  const tag = firstValue(headers, 'etag');
  return tag === undefined || !isStrong(tag) ? headers : withField(headers, 'ETag', `W/${tag}`);
}

const OF_UNCODED_BYTES: ReadonlySet<string> = new Set([
  'accept-ranges',
  'content-digest',
  'content-length',
  'content-md5',
  'digest',
  'repr-digest',
]);

const TYPES: ReadonlySet<string> = new Set([
  'text/html',
  'text/xml',
  'text/plain',
  'text/css',
  'text/javascript',
  'application/json',
  'application/javascript',
  'application/x-javascript',
  'application/rss+xml',
  'application/xml',
  'image/svg+xml',
]);

function mediaType(headers: RawHeaders): string {
  return listMembers([firstValue(headers, 'content-type')?.split(';')[0] ?? ''])[0] ?? '';
}

/** RFC 9111 §5.2.2.6. In any of the fields, whichever of them rules the cache. */
function forbidsTransform(headers: RawHeaders): boolean {
  return CONTROL_FIELDS.some((name) => allValues(headers, name).some((value) => /\bno-transform\b/i.test(value)));
}

const CONTROL_FIELDS = ['cache-control', 'cdn-cache-control', 'causeway-cdn-cache-control'] as const;
