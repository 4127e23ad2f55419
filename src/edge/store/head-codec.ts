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
/** The common names by length: see `http/field-names.ts`. */
const PLACES = Array.from({ length: Math.max(...COMMON_NAMES.map(({ length }) => length)) + 1 }, (_, length) =>
  COMMON_NAMES.map((name, place) => ({ name, place })).filter(({ name }) => name.length === length),
);

const MUST_VALIDATE = 1;
const FORBIDS_STALE = 2;
const IS_INVALID = 4;
const NO_TRANSFORM = 8;

/** Returns the JSON text of an `EncodedHead`. */
export type EncodeHead = (head: Stored) => string;

/** Returns an `EncodeHead` that caches its last result: the tiers of a store encode the same head one after another. */
export function createHeadEncoder(): EncodeHead {
  const dates = { date: createDateMemo(), modified: createDateMemo() };
  let last: { readonly head: Stored; readonly text: string } | undefined;
  return (head) => {
    if (last === undefined || !isSameHead(last.head, head)) {
      last = { head, text: JSON.stringify(encodeHead(head, encodeHeaders(head, dates))) };
    }
    return last.text;
  };
}

function isSameHead(a: Stored, b: Stored): boolean {
  return MEMBERS.every((member) => a[member] === b[member]);
}

/** Formats a date, and caches the last one: many responses have the same. */
function createDateMemo(): (at: number) => string {
  let last = { at: Number.NaN, text: '' };
  return (at) => {
    if (at !== last.at) last = { at, text: formatDate(at) };
    return last.text;
  };
}

interface DateMemos {
  readonly date: (at: number) => string;
  readonly modified: (at: number) => string;
}

const UNCACHED: DateMemos = { date: formatDate, modified: formatDate };

function encodeHead(head: Stored, headers: EncodedHeaders): EncodedHead {
  const { requestAt, lastModifiedAt } = head;
  return [
    head.status,
    head.reason,
    headers,
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

/** `as`: the keys of that literal, which has all of them. */
const MEMBERS = Object.keys({
  status: true,
  reason: true,
  headers: true,
  vary: true,
  varyKey: true,
  varyHeaders: true,
  etag: true,
  range: true,
  requestAt: true,
  responseAt: true,
  dateAt: true,
  lastModifiedAt: true,
  initialAgeMs: true,
  lifetimeMs: true,
  staleWhileRevalidateMs: true,
  staleIfErrorMs: true,
  mustValidate: true,
  forbidsStale: true,
  isInvalid: true,
  noTransform: true,
} satisfies Record<keyof Stored, true>) as readonly (keyof Stored)[];

type Given = Pick<Stored, 'dateAt' | 'lastModifiedAt' | 'etag'>;

function encodeHeaders(head: Stored, dates: DateMemos): EncodedHeaders {
  const encoded: (string | number)[] = [];
  for (let i = 0; i < head.headers.length; i += 2) {
    const [name = '', value = ''] = [head.headers[i], head.headers[i + 1]];
    const place = placeOf(name);
    const isGiven = place !== undefined && givenValue(place, head, dates) === value;
    encoded.push(place ?? name, isGiven ? place : value);
  }
  return encoded;
}

function placeOf(name: string): number | undefined {
  const names = PLACES[name.length];
  const found = names?.find((common) => common.name === name);
  return found?.place;
}

function decodeHeaders(headers: EncodedHeaders, given: Given): readonly string[] {
  return headers.map((text, index) => {
    if (typeof text === 'string') return text;
    return (index % 2 === 0 ? COMMON_NAMES[text] : givenValue(text, given, UNCACHED)) ?? '';
  });
}

/** Returns the value that the rest of the head determines for a field; `undefined` if it determines none. */
function givenValue(place: number, { dateAt, lastModifiedAt, etag }: Given, dates: DateMemos): string | undefined {
  if (place === DATE) return dates.date(dateAt);
  if (place === LAST_MODIFIED) return lastModifiedAt === undefined ? undefined : dates.modified(lastModifiedAt);
  return place === ETAG ? etag : undefined;
}
