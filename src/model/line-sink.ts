/** Sinks: receivers to which edges post log lines soon after requests end. docs/decisions/0743 */
import { MAX_ID } from './limits.ts';

/** Kind of their resources, whose key is the sink's name. */
export const SINK_KIND = 'sink';
export const MAX_SINKS = 8;
export const SINK_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** Members of a record, in their order. */
export const SINK_FIELDS = [
  'time',
  'edge',
  'domain_id',
  'host',
  'client',
  'method',
  'protocol',
  'target',
  'status',
  'cache',
  'request_bytes',
  'response_bytes',
  'duration_ms',
  'content_type',
  'referer',
  'user_agent',
] as const;
export type SinkField = (typeof SINK_FIELDS)[number];

export interface LineSink {
  readonly url: string;
  /** Further header fields of each post, such as `Authorization`; their values are secret. */
  readonly headers: readonly SinkHeader[];
  readonly fields: readonly SinkField[];
  /** Percentage of lines that are sent, 1 to 100. */
  readonly samplePercent: number;
  /** Domains whose lines are sent; empty: all, and requests without a domain. */
  readonly domainIds: readonly number[];
  /** Limits of one post: bytes before compression, records, and the age of its first line. */
  readonly maxBytes: number;
  readonly maxRecords: number;
  readonly maxSeconds: number;
}

export interface SinkHeader {
  readonly name: string;
  readonly value: string;
}

export const MAX_SINK_HEADERS = 16;
export const MAX_SINK_HEADER_CHARS = 1_024;
const MAX_SINK_DOMAINS = 100;
export const SINK_LIMITS = {
  bytes: { min: 1_024, max: 8 * 1024 * 1024, default: 1024 * 1024 },
  records: { min: 1, max: 50_000, default: 5_000 },
  seconds: { min: 1, max: 60, default: 5 },
} as const;

/** Parses `Name: value`; `undefined` if it is not a header field, or one that the service sets itself. */
export function parseSinkHeader(text: string): SinkHeader | undefined {
  const [, name = '', value = ''] =
    /^([\w!#$%&'*+.^`|~-]{1,64}):[ \t]*([\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)$/.exec(text) ?? [];
  const isOurs = OUR_HEADERS.has(name.toLowerCase()) || name.toLowerCase().startsWith('x-causeway-');
  return value === '' || isOurs ? undefined : { name, value };
}

const OUR_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'idempotency-key',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

/** Checks a sink that was received. */
export function isLineSink(value: unknown): value is LineSink {
  // `as`: an object's members are unknown values by their names; each is checked.
  const { url, headers, fields, samplePercent, domainIds, ...limits } = Object(value) as Record<
    keyof LineSink,
    unknown
  >;
  const { bytes, records, seconds } = SINK_LIMITS;
  return (
    typeof url === 'string' &&
    URL.canParse(url) &&
    isListOf(headers, MAX_SINK_HEADERS, isHeader) &&
    isListOf(fields, SINK_FIELDS.length, (field) => SINK_FIELDS.some((known) => known === field)) &&
    isListOf(domainIds, MAX_SINK_DOMAINS, (id) => isWithin(id, { min: 1, max: MAX_ID })) &&
    isWithin(samplePercent, { min: 1, max: 100 }) &&
    isWithin(limits.maxBytes, bytes) &&
    isWithin(limits.maxRecords, records) &&
    isWithin(limits.maxSeconds, seconds)
  );
}

function isHeader(value: unknown): boolean {
  const { name, value: text } = Object(value) as Record<keyof SinkHeader, unknown>; // as above
  return parseSinkHeader(`${String(name)}: ${String(text)}`) !== undefined;
}

function isListOf(value: unknown, max: number, isGood: (entry: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length <= max && value.every(isGood);
}

function isWithin(value: unknown, { min, max }: { readonly min: number; readonly max: number }): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

/** How a sink fares at an edge that has trouble with it. */
export interface SinkTrouble {
  readonly sink: string;
  /** `failing`: posts are repeated. `dropping`: records were dropped in the last minutes. */
  readonly state: 'failing' | 'dropping';
  /** Status of the answer, or a word for its absence; `spool`: too much was waiting. */
  readonly reason: string;
}
