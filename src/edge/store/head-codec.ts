/** A stored response's head as a short list of plain values, and back: how memory and disk keep it. Pure. */
import type { PartialRange, Stored } from '#http/stored.ts';

/** Changes with `HEAD_VERSION`. Absent values are `null`. */
export type EncodedHead = readonly [
  status: number,
  reason: string,
  headers: readonly string[],
  vary: readonly string[],
  varyKey: string,
  varyHeaders: readonly string[],
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

const MUST_VALIDATE = 1;
const FORBIDS_STALE = 2;
const IS_INVALID = 4;
const NO_TRANSFORM = 8;

export function encodeHead(head: Stored): EncodedHead {
  return [
    head.status,
    head.reason,
    head.headers,
    head.vary,
    head.varyKey,
    head.varyHeaders,
    head.etag ?? null,
    head.range ?? null,
    head.requestAt,
    head.responseAt,
    head.dateAt,
    head.lastModifiedAt ?? null,
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
  const [status, reason, headers, vary, varyKey, varyHeaders, etag, range, requestAt, responseAt, dateAt] = encoded;
  const [lastModifiedAt, initialAgeMs, lifetimeMs, staleWhileRevalidateMs, staleIfErrorMs, flags] = [
    encoded[11],
    encoded[12],
    encoded[13],
    encoded[14],
    encoded[15],
    encoded[16],
  ];
  return {
    status,
    reason,
    headers,
    vary,
    varyKey,
    varyHeaders,
    etag: etag ?? undefined,
    range: range ?? undefined,
    requestAt,
    responseAt,
    dateAt,
    lastModifiedAt: lastModifiedAt ?? undefined,
    initialAgeMs,
    lifetimeMs,
    staleWhileRevalidateMs,
    staleIfErrorMs: staleIfErrorMs ?? undefined,
    mustValidate: (flags & MUST_VALIDATE) !== 0,
    forbidsStale: (flags & FORBIDS_STALE) !== 0,
    isInvalid: (flags & IS_INVALID) !== 0,
    noTransform: (flags & NO_TRANSFORM) !== 0,
  };
}
