/**
 * Encodes a stored response's head as a compact list of plain values, and decodes it: the form that memory and disk
 * keep. Pure.
 */
import { formatDate } from '#http/dates.ts';
import type { PartialRange, Stored } from '#http/stored.ts';

/**
 * Absent values are `null`; instants other than `requestAt` are differences from it. A change here requires a new
 * version of the disk's format.
 */
export type EncodedHead = readonly [
  status: number,
  reason: string,
  headers: EncodedHeaders,
  vary: readonly string[] | 0,
  varyKey: string,
  varyHeaders: readonly string[] | 0,
  etag: string | null,
  range: PartialRange | null,
  requestAt: number,
  responseAt: number,
  dateAt: number,
  lastModifiedAt: number | null,
  initialAgeMs: number,
  lifetimeMs: number,
  staleWhileRevalidateMs: number,
  staleIfErrorMs: number | null,
  flags: number,
];

/**
 * Alternating names and values. A common name is its index in `COMMON_NAMES`; a value that another part of the head
 * determines is the index of its name.
 */
type EncodedHeaders = readonly (string | number)[];

/** Names in their most common spelling. Within a version of the format, names may only be appended. */
const COMMON_NAMES: readonly string[] = [
  'Date',
  'Last-Modified',
  'ETag',
  'Content-Type',
  'Content-Length',
  'Cache-Control',
  'Server',
  'Expires',
  'Vary',
  'Accept-Ranges',
  'Content-Encoding',
  'Access-Control-Allow-Origin',
  'Connection',
  'Content-Disposition',
  'Content-Language',
  'Set-Cookie',
  'Strict-Transport-Security',
  'X-Content-Type-Options',
  'Via',
  'Link',
];
const DATE = 0;
const LAST_MODIFIED = 1;
const ETAG = 2;
const PLACES: ReadonlyMap<string, number> = new Map(COMMON_NAMES.map((name, place) => [name, place]));

const MUST_VALIDATE = 1;
const FORBIDS_STALE = 2;
const IS_INVALID = 4;
const NO_TRANSFORM = 8;

export function encodeHead(head: Stored): EncodedHead {
  const { requestAt, lastModifiedAt } = head;
  return [
    head.status,
    head.reason,
    encodeHeaders(head),
    head.vary.length === 0 ? 0 : head.vary,
    head.varyKey,
    head.varyHeaders.length === 0 ? 0 : head.varyHeaders,
    head.etag ?? null,
    head.range ?? null,
    requestAt,
    head.responseAt - requestAt,
    head.dateAt - requestAt,
    lastModifiedAt === undefined ? null : lastModifiedAt - requestAt,
    head.initialAgeMs,
    head.lifetimeMs,
    head.staleWhileRevalidateMs,
    head.staleIfErrorMs ?? null,
    (head.mustValidate ? MUST_VALIDATE : 0) |
      (head.forbidsStale ? FORBIDS_STALE : 0) |
      (head.isInvalid ? IS_INVALID : 0) |
      (head.noTransform ? NO_TRANSFORM : 0),
  ];
}

export function decodeHead(encoded: EncodedHead): Stored {
  const [status, reason, headers, vary, varyKey, varyHeaders, encodedEtag, range, requestAt, ...rest] = encoded;
  const [response, date, modified, initialAgeMs, lifetimeMs, staleWhileRevalidateMs, staleIfError, flags] = rest;
  const etag = encodedEtag ?? undefined;
  const dateAt = date + requestAt;
  const lastModifiedAt = modified === null ? undefined : modified + requestAt;
  return {
    status,
    reason,
    headers: decodeHeaders(headers, { dateAt, lastModifiedAt, etag }),
    vary: vary === 0 ? [] : vary,
    varyKey,
    varyHeaders: varyHeaders === 0 ? [] : varyHeaders,
    etag,
    range: range ?? undefined,
    requestAt,
    responseAt: response + requestAt,
    dateAt,
    lastModifiedAt,
    initialAgeMs,
    lifetimeMs,
    staleWhileRevalidateMs,
    staleIfErrorMs: staleIfError ?? undefined,
    mustValidate: (flags & MUST_VALIDATE) !== 0,
    forbidsStale: (flags & FORBIDS_STALE) !== 0,
    isInvalid: (flags & IS_INVALID) !== 0,
    noTransform: (flags & NO_TRANSFORM) !== 0,
  };
}

type Given = Pick<Stored, 'dateAt' | 'lastModifiedAt' | 'etag'>;

function encodeHeaders(head: Stored): EncodedHeaders {
  return head.headers.map((text, index) => {
    if (index % 2 === 0) return PLACES.get(text) ?? text;
    const place = PLACES.get(head.headers[index - 1] ?? '');
    return place !== undefined && givenValue(place, head) === text ? place : text;
  });
}

function decodeHeaders(headers: EncodedHeaders, given: Given): readonly string[] {
  return headers.map((text, index) => {
    if (typeof text === 'string') return text;
    return (index % 2 === 0 ? COMMON_NAMES[text] : givenValue(text, given)) ?? '';
  });
}

/** Returns the value that the rest of the head determines for a field; `undefined` if it determines none. */
function givenValue(place: number, { dateAt, lastModifiedAt, etag }: Given): string | undefined {
  if (place === DATE) return formatDate(dateAt);
  if (place === LAST_MODIFIED) return lastModifiedAt === undefined ? undefined : formatDate(lastModifiedAt);
  return place === ETAG ? etag : undefined;
}
