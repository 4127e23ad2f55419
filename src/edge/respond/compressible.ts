/** Decides which responses are compressed, and adapts their heads. Pure. Edge rule 8 */
import type { ContentCoding } from '#http/content-coding.ts';
import { isStrong } from '#http/entity-tag.ts';
import { FieldNames } from '#http/field-names.ts';
import {
  allValues,
  firstValue,
  hasField,
  listMembers,
  type RawHeaders,
  withField,
  withoutFields,
} from '#http/headers.ts';

/** Smallest body that is compressed. */
const MIN_BYTES = 1024;
/** Largest body that is compressed; a larger one keeps its length and its ranges. */
export const MAX_COMPRESSED_BYTES = 10 * 1024 * 1024;

export interface Compressible {
  readonly status: number;
  readonly headers: RawHeaders;
  /** Length of the whole body; `undefined` if it is unknown. */
  readonly bodyBytes: number | undefined;
}

/**
 * Whether the response is compressed for clients that accept it, so that every answer needs `Vary`. A partial response
 * has it because of the whole, although it is never compressed itself.
 */
export function isCompressible({ status, headers, bodyBytes }: Compressible): boolean {
  if (status !== 200 && status !== 206) return false;
  if (bodyBytes !== undefined && (bodyBytes < MIN_BYTES || bodyBytes > MAX_COMPRESSED_BYTES)) return false;
  return TYPES.has(mediaType(headers)) && !hasField(headers, 'content-encoding') && !forbidsTransform(headers);
}

/** Adds `Vary`, to uncoded answers, too, or a cache would send them to all clients. RFC 9110 §12.5.5 */
export function withVary(headers: RawHeaders): RawHeaders {
  const lines = allValues(headers, 'vary');
  const members = listMembers(lines);
  if (members.includes('accept-encoding') || members.includes('*')) return headers;
  return withField(headers, 'Vary', [...lines, 'Accept-Encoding'].join(', '));
}

/** Returns the fields of the response in a coding, with the length if it is known. */
export function codedHeaders(headers: RawHeaders, coding: ContentCoding, codedBytes?: number): RawHeaders {
  const length = codedBytes === undefined ? [] : ['Content-Length', String(codedBytes)];
  return [...withoutFields(weaken(headers), OF_UNCODED_BYTES), 'Content-Encoding', coding, ...length];
}

/** Returns the fields of a 304 to a client that has, or may have, the coded response. RFC 9110 §15.4.5 */
export function codedHeadersOf304(headers: RawHeaders): RawHeaders {
  return withoutFields(weaken(headers), OF_UNCODED_BYTES);
}

/** Weakens the entity tag, because two codings have different bytes. RFC 9110 §8.8.3.3 */
function weaken(headers: RawHeaders): RawHeaders {
  const tag = firstValue(headers, 'etag');
  return tag === undefined || !isStrong(tag) ? headers : withField(headers, 'ETag', `W/${tag}`);
}

const OF_UNCODED_BYTES = new FieldNames([
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

/** Whether `no-transform` is in any of the fields, whichever of them controls the cache. RFC 9111 §5.2.2.6 */
function forbidsTransform(headers: RawHeaders): boolean {
  return CONTROL_FIELDS.some((name) => allValues(headers, name).some((value) => /\bno-transform\b/i.test(value)));
}

const CONTROL_FIELDS = ['cache-control', 'cdn-cache-control', 'causeway-cdn-cache-control'] as const;
