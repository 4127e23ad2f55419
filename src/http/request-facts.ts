/** Reads the request properties that cache decisions need, once. */
import { type Directives, NO_DIRECTIVES, parseCacheControl } from './cache-control.ts';
import { allValues, listMembers } from './headers.ts';
import { type RequestFieldName, type RequestHeaders, readableField, wholeSection } from './request-fields.ts';
import type { RequestFacts } from './stored.ts';

export interface RequestInput {
  readonly method: string;
  /** See `RequestFacts.uri`. */
  readonly uri: string;
  readonly headers: RequestHeaders;
  /** See `RequestFacts`; absent: the same as `headers`. */
  readonly sentHeaders?: () => RequestHeaders;
  /** The request has a body that its fields do not announce. */
  readonly hasUnframedBody?: boolean;
}

/**
 * Reads the facts in one pass over the header section, in which single-value fields occur once. Absent fields cost no
 * parsing.
 */
export function readRequestFacts({
  method,
  uri,
  headers,
  sentHeaders = () => headers,
  hasUnframedBody = false,
}: RequestInput): RequestFacts {
  const seen: Seen = {
    hasBody: hasUnframedBody,
    hasAuthorization: false,
    hasOriginCondition: false,
    hasCacheControl: false,
  };
  const lines = wholeSection(headers);
  for (let i = 0; i < lines.length; i += 2) note(seen, readableField(lines[i] ?? ''), lines[i + 1] ?? '');
  return {
    method,
    uri,
    sentHeaders,
    hasBody: seen.hasBody,
    hasAuthorization: seen.hasAuthorization,
    directives: readDirectivesOf(headers, seen),
    ifNoneMatch: seen.ifNoneMatch,
    ifModifiedSince: seen.ifModifiedSince,
    hasOriginCondition: seen.hasOriginCondition,
    ifRange: seen.ifRange,
    range: method === 'GET' ? seen.range : undefined, // RFC 9110 §14.2
  };
}

interface Seen {
  hasBody: boolean;
  hasAuthorization: boolean;
  hasOriginCondition: boolean;
  hasCacheControl: boolean;
  pragma?: string;
  ifNoneMatch?: string;
  ifModifiedSince?: string;
  ifRange?: string;
  range?: string;
}

function note(seen: Seen, name: RequestFieldName | undefined, value: string): void {
  switch (name) {
    case 'content-length':
      if (!/^0*$/.test(value)) seen.hasBody = true; // RFC 9112 §6.3
      break;
    case 'transfer-encoding':
      seen.hasBody = true;
      break;
    case 'authorization':
      seen.hasAuthorization = true;
      break;
    case 'if-match':
    case 'if-unmodified-since':
      seen.hasOriginCondition = true;
      break;
    case 'cache-control':
      seen.hasCacheControl = true;
      break;
    case 'pragma':
      seen.pragma = append(seen.pragma, value);
      break;
    case 'if-none-match':
      seen.ifNoneMatch = append(seen.ifNoneMatch, value); // RFC 9110 §13.1.2: a list
      break;
    case 'if-modified-since':
      seen.ifModifiedSince = value;
      break;
    case 'if-range':
      seen.ifRange = value;
      break;
    case 'range':
      seen.range = value;
      break;
  }
}

function append(line: string | undefined, value: string): string {
  return line === undefined ? value : `${line}, ${value}`;
}

function readDirectivesOf(headers: RequestHeaders, seen: Seen): Directives | undefined {
  if (seen.hasCacheControl) return parseCacheControl(allValues(headers, 'cache-control'));
  // RFC 9111 §5.4: Pragma counts only without Cache-Control
  if (seen.pragma === undefined || !listMembers([seen.pragma]).includes('no-cache')) return undefined;
  return { ...NO_DIRECTIVES, noCache: true };
}
