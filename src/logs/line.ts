/** One request as one line of the access log: 13 fields, one TAB between them. `docs/access-log.md` describes them. */
import type { LocalTime } from '#lib/local-time.ts';

/** Cache results in the terms of common log readers. */
export const CACHE_CODES = [
  /** Hit from the disk. */
  'TCP_HIT',
  /** Hit from memory, or from a fetch of another request in flight. */
  'TCP_MEM_HIT',
  'TCP_MISS',
  /** Validated, and the origin answered 304. */
  'TCP_REFRESH_HIT',
  /** Validated, and the origin sent another response. */
  'TCP_REFRESH_MISS',
  /** 304 from the cache. */
  'TCP_IMS_HIT',
  /** An error page from the cache. */
  'TCP_NEGATIVE_HIT',
  /** Refused by the domain's state or rules. */
  'TCP_DENIED',
  'TCP_STALE_HIT',
  /** An error that the edge itself made. */
  'NONE',
] as const;

export type CacheCode = (typeof CACHE_CODES)[number];

/** One request. Texts are as received, one latin1 character per byte; `undefined` and empty ones are shown as `-`. */
export interface AccessRecord {
  /** Bare peer address without port; a v4-mapped one is shown as IPv4. */
  readonly clientAddress: string;
  /** Epoch milliseconds at which the request ended. */
  readonly endedAt: number;
  /** Time from the request's first byte to the response's last. */
  readonly durationMs: number;
  /** Request line, header section and body. */
  readonly requestBytes: number;
  /** Bytes actually sent, header section included. */
  readonly responseBytes: number;
  /** Host by which the site was found, or as the client named it if there is no site: lower-case, no port. */
  readonly host: string | undefined;
  readonly method: string | undefined;
  /** Path and query as received. */
  readonly target: string | undefined;
  /** `1.1`, `2.0`. */
  readonly httpVersion: string;
  /** Absent for HTTP of that version. */
  readonly protocol?: 'RTMP/1.0';
  readonly cacheCode: CacheCode;
  /** 499 if the client left before the end. */
  readonly status: number;
  readonly contentType: string | undefined;
  readonly referer: string | undefined;
  readonly userAgent: string | undefined;
  /** Whether it is a further line of a long-lived answer: its bytes count, its request was counted before. */
  readonly isContinued?: boolean;
}

/** Bytes before escaping at which a field is cut, so that a line stays below 64 KiB even if every byte is escaped. */
export const MAX_FIELD_BYTES = {
  host: 255,
  method: 32,
  target: 8192,
  contentType: 256,
  referer: 2048,
  userAgent: 1024,
} as const;

/**
 * The fields in order. Code that reads lines, or builds them from parts of others, finds a field by its index here.
 * `outcome` is cache code and status.
 */
export const LINE_FIELDS = [
  ...(['clientAddress', 'endedAt', 'durationMs', 'requestBytes', 'responseBytes'] as const),
  ...(['host', 'method', 'target', 'httpVersion', 'outcome', 'contentType'] as const),
  ...(['referer', 'userAgent'] as const),
] as const;

/** The run of fields that the same answer to the same target repeats. docs/decisions/0270 */
export const ANSWERED_FIELDS = { first: 'host', last: 'contentType' } as const satisfies Record<string, LineField>;
type LineField = (typeof LINE_FIELDS)[number];

type AnsweredRecord = Pick<
  AccessRecord,
  'host' | 'method' | 'target' | 'httpVersion' | 'protocol' | 'cacheCode' | 'status' | 'contentType'
>;

type OwnRecord = Pick<
  AccessRecord,
  'clientAddress' | 'endedAt' | 'durationMs' | 'requestBytes' | 'responseBytes' | 'referer' | 'userAgent'
>;

/** `false` if a record has a member that no field shows. */
type IsWhole =
  Exclude<keyof AccessRecord, keyof AnsweredRecord | keyof OwnRecord | 'isContinued'> extends never ? true : false;

/**
 * Returns the line without a line end. Never fails, whatever a client sent. A new member of a record that is not
 * written here does not compile.
 */
export function formatLine(record: AccessRecord, zone: LocalTime): string {
  true satisfies IsWhole;
  const { clientAddress, endedAt, durationMs, requestBytes, responseBytes, referer, userAgent } = record;
  const time = `${zone.format(endedAt)}\t${formatCount(durationMs)}`;
  const counts = `${formatCount(requestBytes)}\t${formatCount(responseBytes)}`;
  const client = `${escapeField(referer, MAX_FIELD_BYTES.referer)}\t${escapeField(userAgent, MAX_FIELD_BYTES.userAgent)}`;
  return `${formatAddress(clientAddress)}\t${time}\t${counts}\t${formatAnswered(record)}\t${client}`;
}

/** Formats the first field. An IPv4-mapped address is shown as IPv4. */
export function formatAddress(address: string): string {
  return escapeField(address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address);
}

/** The six fields that the same answer to the same target gives again. */
export function formatAnswered(record: AnsweredRecord): string {
  const host = escapeField(record.host, MAX_FIELD_BYTES.host);
  const method = escapeField(record.method, MAX_FIELD_BYTES.method);
  const target = escapeField(record.target, MAX_FIELD_BYTES.target);
  const type = escapeField(record.contentType, MAX_FIELD_BYTES.contentType);
  const protocol = record.protocol ?? `HTTP/${record.httpVersion}`;
  return `${host}\t${method}\t${target}\t${protocol}\t${record.cacheCode}/${record.status}\t${type}`;
}

/**
 * Decodes valid UTF-8, and escapes backslashes, controls, line separators and all other bytes as `\xHH`, so that no
 * value can end a field or a line.
 */
export function escapeField(text: string | undefined, maxBytes = 64): string {
  if (text === undefined || text === '') return '-';
  const cut = text.length > maxBytes ? text.slice(0, maxBytes) : text;
  return PLAIN.test(cut) ? cut : escapeBytes(Buffer.from(cut, 'latin1'));
}

/** Printable ASCII without backslash: nearly every value. */
const PLAIN = /^[ -[\]-~]*$/;

function escapeBytes(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0;
    const length = sequenceLength(bytes, at);
    if (length > 1 && !breaksLine(bytes, at, length)) text += bytes.toString('utf8', at, at + length);
    else if (byte >= 0x20 && byte < 0x7f && byte !== 0x5c) text += String.fromCharCode(byte);
    else text += escapeEach(bytes.subarray(at, at + length));
    at += length;
  }
  return text;
}

function escapeEach(bytes: Buffer): string {
  return Array.from(bytes, (byte) => `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

/**
 * Whether a character is a control beyond ASCII or a separator: many readers end a line at U+0085, U+2028 and U+2029.
 */
function breaksLine(bytes: Buffer, at: number, length: number): boolean {
  if (length > 3) return false;
  return /^[\u0080-\u009f\u2028\u2029]$/.test(bytes.toString('utf8', at, at + length));
}

/**
 * Returns the bytes of the well-formed UTF-8 sequence that starts here; 1 for ASCII and for any other byte. RFC 3629 §4
 */
function sequenceLength(bytes: Buffer, at: number): number {
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes.subarray(at, at + 4);
  if (first >= 0xc2 && first <= 0xdf) return isTail(second) ? 2 : 1;
  if (first >= 0xe0 && first <= 0xef) {
    const low = first === 0xe0 ? 0xa0 : 0x80;
    const high = first === 0xed ? 0x9f : 0xbf;
    return second >= low && second <= high && isTail(third) ? 3 : 1;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const low = first === 0xf0 ? 0x90 : 0x80;
    const high = first === 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high && isTail(third) && isTail(fourth) ? 4 : 1;
  }
  return 1;
}

function isTail(byte: number): boolean {
  return byte >= 0x80 && byte <= 0xbf;
}

/** Formats a whole number ≥ 0, even if a clock was set back. */
function formatCount(value: number): string {
  return String(Math.max(0, Math.floor(value)));
}
