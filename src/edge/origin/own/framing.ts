/**
 * Decides where the body of an origin's response ends and whether its connection may be reused. RFC 9112 §6, §9.3.
 * Pure.
 */
import { listMembers, type RawHeaders, trimOws, withField } from '#http/headers.ts';
import { MAX_ORIGIN_KEEP_ALIVE_MS, ORIGIN_KEEP_ALIVE_MS } from '../response-limits.ts';

/** A response's head, as far as it decides the framing. */
interface ReceivedHead {
  readonly isHeadRequest: boolean;
  readonly status: number;
  /** The digit after `HTTP/1.`. */
  readonly minorVersion: number;
  readonly headers: RawHeaders;
}

type Framing =
  | { readonly kind: 'malformed'; readonly detail: string }
  | {
      readonly kind: 'framed';
      /** `close`: the body ends with the connection. */
      readonly body: 'none' | 'length' | 'chunked' | 'close';
      /** 0 unless `body` is `length`. */
      readonly lengthBytes: number;
      /** No request may follow on the connection. */
      readonly isLast: boolean;
      /** How long the connection may be idle after this response. */
      readonly idleMs: number;
      /** The fields, with one `Content-Length` instead of several equal ones. */
      readonly headers: RawHeaders;
    };

/** An idle connection is closed this long before the origin would close it. */
const KEEP_ALIVE_MARGIN_MS = 1_000;

export function frameResponse({ isHeadRequest, status, minorVersion, headers }: ReceivedHead): Framing {
  const fields = collectFields(headers);
  const { lengths, codings, connection, keepAlive } = fields;
  const lengthBytes = lengths === undefined ? undefined : readLength(lengths);
  if (lengthBytes === 'malformed') return malformed('a Content-Length that is none');
  // RFC 9112 §6.3: such a response may be an attempt at response splitting
  if (lengthBytes !== undefined && codings !== undefined) return malformed('a Content-Length beside Transfer-Encoding');
  const coding = codings === undefined ? 'none' : readCoding(codings);
  if (coding === 'malformed') return malformed('no transfer coding, or one beside chunked');
  if (codings !== undefined && minorVersion === 0) return malformed('Transfer-Encoding in HTTP/1.0'); // RFC 9112 §6.1
  const isClosed = connection !== undefined && hasOption(connection, 'close');
  const idleMs = readIdleMs(keepAlive);
  // RFC 9112 §9.3
  const isAsked = minorVersion === 1 || (connection !== undefined && hasOption(connection, 'keep-alive'));
  const ends = isClosed || !isAsked || idleMs <= 0;
  const kept = (lengths?.length ?? 0) > 1 || lengths?.[0]?.includes(',') === true;
  const common = {
    kind: 'framed',
    lengthBytes: 0,
    idleMs,
    headers: kept ? withField(headers, 'Content-Length', String(lengthBytes)) : headers,
  } as const;
  if (isHeadRequest || status < 200 || status === 204 || status === 304) {
    // Some origins send a body regardless, late if they have to generate it. RFC 9112 §6.3
    const mayFollow = isHeadRequest || coding !== 'none' || (status === 204 && (lengthBytes ?? 0) > 0);
    return { ...common, body: 'none', isLast: ends || mayFollow };
  }
  if (coding === 'chunked') return { ...common, body: 'chunked', isLast: ends };
  if (lengthBytes !== undefined) return { ...common, body: 'length', lengthBytes, isLast: ends };
  return { ...common, body: 'close', isLast: true };
}

function malformed(detail: string): Framing {
  return { kind: 'malformed', detail };
}

interface FramingFields {
  /** Values of all lines with this name; `undefined` if there are none. */
  lengths: string[] | undefined;
  codings: string[] | undefined;
  connection: string[] | undefined;
  /** Value of the first `Keep-Alive` line. */
  keepAlive: string | undefined;
}

function collectFields(headers: RawHeaders): FramingFields {
  const fields: FramingFields = { lengths: undefined, codings: undefined, connection: undefined, keepAlive: undefined };
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    const { length } = name;
    if (length !== 10 && length !== 14 && length !== 17) continue;
    const value = headers[i + 1] ?? '';
    switch (name.toLowerCase()) {
      case 'content-length':
        fields.lengths = withLine(fields.lengths, value);
        break;
      case 'transfer-encoding':
        fields.codings = withLine(fields.codings, value);
        break;
      case 'connection':
        fields.connection = withLine(fields.connection, value);
        break;
      case 'keep-alive':
        fields.keepAlive ??= value;
        break;
    }
  }
  return fields;
}

function withLine(lines: string[] | undefined, value: string): string[] {
  if (lines === undefined) return [value];
  lines.push(value);
  return lines;
}

/** Whether `Connection` has an option. Nearly all origins send the one word `keep-alive`. */
function hasOption(lines: readonly string[], option: 'close' | 'keep-alive'): boolean {
  if (lines.length === 1 && lines[0] === 'keep-alive') return option === 'keep-alive';
  return listMembers(lines).includes(option);
}

/** Several equal lengths count as one. RFC 9112 §6.3, RFC 9110 §8.6 */
function readLength(lines: readonly string[]): number | 'malformed' {
  let length: number | undefined;
  for (const line of lines) {
    for (const member of line.includes(',') ? line.split(',').map(trimOws) : [line]) {
      if (!LENGTH.test(member)) return 'malformed';
      const value = Number(member);
      if (length !== undefined && length !== value) return 'malformed';
      length = value;
    }
  }
  return length ?? 'malformed';
}

/** Limited to 15 digits, which a number holds exactly and an answer to a viewer may have. */
const LENGTH = /^\d{1,15}$/;

/**
 * Returns `other` for codings without `chunked`: they frame nothing, and the body ends with the connection. Other
 * codings beside `chunked` are malformed, since the edge could not decode them, and so is a member that is not a coding.
 * RFC 9112 §6.1, §6.3, §7
 */
function readCoding(lines: readonly string[]): 'chunked' | 'other' | 'malformed' {
  // Other parsers treat an empty member in different ways.
  const codings = lines.flatMap((line) => line.split(',')).map((member) => trimOws(member).toLowerCase());
  if (!codings.every((coding) => CODING.test(coding))) return 'malformed';
  if (!codings.includes('chunked')) return 'other';
  return codings.length === 1 ? 'chunked' : 'malformed';
}

/** A token, perhaps with parameters. */
const CODING = /^[!#$%&'*+.^_`|~0-9a-z-]+[\t ]*(?:;.*)?$/;

function readIdleMs(keepAlive: string | undefined): number {
  const [, seconds] = (keepAlive === undefined ? null : TIMEOUT.exec(keepAlive)) ?? [];
  if (seconds === undefined) return ORIGIN_KEEP_ALIVE_MS;
  return Math.min(Number(seconds) * 1000 - KEEP_ALIVE_MARGIN_MS, MAX_ORIGIN_KEEP_ALIVE_MS);
}

const TIMEOUT = /(?:^|[\s,;])timeout="?(\d{1,9})/i;
