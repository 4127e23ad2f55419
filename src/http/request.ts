/** Validates requests: method, target, Host and framing. RFC 9112 §3, §6 */
import { type Authority, parseAbsoluteForm, parseAuthority } from './absolute-form.ts';
import { allValues, trimOws } from './headers.ts';
import { type RequestFieldName, type RequestHeaders, readableField, wholeSection } from './request-fields.ts';
import { splitTarget } from './target.ts';

export interface RequestLine {
  readonly method: string;
  /** Target as received. */
  readonly target: string;
  readonly httpVersion: '1.0' | '1.1' | '2.0';
  /** Whether the client's own connection uses TLS, be it to us or to a trusted proxy. */
  readonly isTls: boolean;
  readonly headers: RequestHeaders;
}

export interface ValidRequest {
  readonly kind: 'request';
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /** Lower-case, without port or trailing dot: the key to find a site by. An IPv6 address keeps its brackets. */
  readonly host: string;
  /** Lower-case, with the port if it is not the scheme's: sent as Host. */
  readonly authority: string;
  /** Origin form as the client wrote it (`*` for OPTIONS only): sent to the origin. */
  readonly target: string;
  /** `target` without the query, normalized: equal for equivalent requests. */
  readonly keyPath: string;
  /** Query from the question mark on, inclusive; empty without one. As written: its order and case matter. */
  readonly query: string;
  /** Absolute: `scheme://authority` and the target. */
  readonly uri: string;
}

export type RequestProblem =
  /** Not exactly one Host, or not a host. */
  | 'host'
  /** An absolute-form target with another host than Host, or another scheme than the connection's. */
  | 'hostMismatch'
  /**
   * Neither origin form, absolute form nor OPTIONS `*`; or a fragment, blank, control byte or broken percent-encoding.
   */
  | 'target'
  /** Longer than MAX_TARGET_BYTES. */
  | 'targetTooLong'
  /** TRACE, which echoes credentials, or CONNECT, which does not apply to a reverse proxy. */
  | 'method'
  /** Both Content-Length and Transfer-Encoding, several or invalid lengths, or `chunked` not last. */
  | 'framing'
  /** Another transfer coding in addition to chunked. */
  | 'transferCoding'
  /** Several lines of a single-value field. */
  | 'repeatedField';

export interface InvalidRequest {
  readonly kind: 'invalid';
  readonly status: 400 | 405 | 414 | 501;
  readonly problem: RequestProblem;
}

/** Longer targets get a 414. */
export const MAX_TARGET_BYTES = 8192;

export function checkRequest(line: RequestLine): ValidRequest | InvalidRequest {
  if (line.method === 'TRACE' || line.method === 'CONNECT') return invalid(405, 'method'); // RFC 9110 §9.3.6, §9.3.8
  if (line.target.length > MAX_TARGET_BYTES) return invalid(414, 'targetTooLong');
  const framing = framingProblem(line);
  if (framing !== undefined) return invalid(framing === 'transferCoding' ? 501 : 400, framing);
  const scheme = line.isTls ? 'https' : 'http';
  const host = readHost(line.headers, scheme);
  if (host === undefined) return invalid(400, 'host');
  if (repeatsSingleField(line.headers)) return invalid(400, 'repeatedField');
  const target = readTarget(line, scheme);
  if (target === undefined) return invalid(400, 'target');
  // RFC 9112 §3.2.2 gives the target precedence; a request with two hosts is refused instead. docs/decisions/0466
  if (target.authority !== undefined && target.authority !== host.authority) return invalid(400, 'hostMismatch');
  return assemble(line.method, scheme, host, target.path);
}

/** Returns the `host` of `ValidRequest`, even for a request that is invalid otherwise; `undefined` if there is none. */
export function hostOf(headers: RequestHeaders): string | undefined {
  return readHost(headers, 'http')?.host;
}

/** Exactly one Host line is required, for HTTP/1.0 too, or no site can be found. RFC 9112 §3.2 */
function readHost(headers: RequestHeaders, scheme: 'http' | 'https'): Authority | undefined {
  const values = allValues(headers, 'host');
  return values.length === 1 ? parseAuthority(values[0] ?? '', scheme) : undefined;
}

interface Target {
  /** Authority of an absolute-form target. */
  readonly authority: string | undefined;
  readonly path: string;
}

function readTarget({ method, target }: RequestLine, scheme: 'http' | 'https'): Target | undefined {
  if (target === '*') return method === 'OPTIONS' ? { authority: undefined, path: '*' } : undefined; // RFC 9112 §3.2.4
  if (FORBIDDEN_IN_TARGET.test(target)) return undefined;
  if (target.startsWith('/')) return { authority: undefined, path: target }; // RFC 9112 §3.2.1
  const absolute = parseAbsoluteForm(target); // RFC 9112 §3.2.2
  if (absolute === undefined || absolute === 'invalid') return undefined;
  // A target with another scheme than the connection's never matches the Host.
  return { authority: absolute.scheme === scheme ? absolute.authority : '', path: absolute.target };
}

// Blanks, controls, fragments, and a percent sign without two hex digits. RFC 3986 §2.1, §3.5
const FORBIDDEN_IN_TARGET = /[^!-~\x80-\xff]|#|%(?![0-9A-Fa-f]{2})/;

function assemble(
  method: string,
  scheme: 'http' | 'https',
  { host, authority }: Authority,
  target: string,
): ValidRequest | InvalidRequest {
  const { keyPath, query } = splitTarget(target);
  const uri = `${scheme}://${authority}${target === '*' ? '' : target}`;
  return { kind: 'request', method, scheme, host, authority, target, keyPath, query, uri };
}

/** Refuses framing that a peer and an origin could interpret differently. RFC 9112 §6.1, §6.3 */
function framingProblem({ headers, httpVersion }: RequestLine): 'framing' | 'transferCoding' | undefined {
  const lengths = allValues(headers, 'content-length');
  const codings = allValues(headers, 'transfer-encoding');
  if (lengths.length > 1 || (lengths[0] !== undefined && !/^\d{1,16}$/.test(lengths[0]))) return 'framing';
  if (codings.length === 0) return undefined;
  if (lengths.length > 0 || httpVersion !== '1.1') return 'framing';
  const names = codings.flatMap((line) => line.split(',')).map((name) => trimOws(name).toLowerCase());
  if (names.at(-1) !== 'chunked') return 'framing';
  return names.length === 1 ? undefined : 'transferCoding';
}

/**
 * Repeated lines are refused, since a rule here and an origin could use different ones. RFC 9110 §5.3;
 * docs/decisions/0163
 */
function repeatsSingleField(headers: RequestHeaders): boolean {
  const lines = wholeSection(headers);
  let seen = 0;
  for (let i = 0; i < lines.length; i += 2) {
    const bit = SINGLE_FIELDS.get(readableField(lines[i] ?? '')) ?? 0;
    if ((seen & bit) !== 0) return true;
    seen |= bit;
  }
  return false;
}

/** Single-value fields with a bit each. Host and Content-Length are checked above. */
const SINGLE_FIELDS: ReadonlyMap<RequestFieldName | undefined, number> = new Map(
  (
    [
      'authorization',
      'content-location',
      'content-range',
      'content-type',
      'date',
      'from',
      'if-modified-since',
      'if-range',
      'if-unmodified-since',
      'max-forwards',
      'origin', // RFC 6454 §7.3
      'proxy-authorization',
      'range',
      'referer',
      'user-agent',
    ] as const
  ).map((name, index) => [name, 1 << index]),
);

function invalid(status: InvalidRequest['status'], problem: RequestProblem): InvalidRequest {
  return { kind: 'invalid', status, problem };
}
