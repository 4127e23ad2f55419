/** The messages of an edge to control about traffic: parts of log files, and sums. Pure. */
import { MINUTE_MS } from '#lib/durations.ts';
import { isInstant, LATEST_MS } from '#lib/instant.ts';
import { isCount } from '#lib/is-count.ts';
import { parseObject } from '#lib/parse-object.ts';
import type { MinuteCounters } from './counters.ts';
import type { HeavyHitter } from './heavy-hitters.ts';
import { fromRow, toRow } from './journal.ts';

/** Lines of one domain from one log file, within one hour of the service's time zone. */
export interface LogPart {
  readonly key: PartKey;
  readonly lines: number;
  /** End of its earliest request, epoch milliseconds. */
  readonly firstAt: number;
  readonly top: Top;
  /** One gzip member. */
  readonly gzip: Uint8Array;
}

/** `<domain id>/<YYYY-MM-DD>/<HH>.<edge>.<file>.log.gz` */
export interface PartKey {
  /** 0 for no domain. */
  readonly domainId: number;
  readonly day: string;
  readonly hour: string;
  readonly edge: string;
  /** Stem of its spool file. */
  readonly file: string;
}

export const TOP_KINDS = ['url', 'referer', 'client', 'status'] as const;

type TopKind = (typeof TOP_KINDS)[number];

/** Approximate top lists: the most frequent first, at most `MAX_TOP` of each kind. */
export type Top = Readonly<Record<TopKind, readonly HeavyHitter[]>>;

export const MAX_TOP = 100;
export const MAX_TOP_CHARS = 512;

/** Sums that were not reported before. `start` and `sequence` together are unique per edge. */
export interface StatisticsReport {
  readonly edge: string;
  readonly start: string;
  readonly sequence: number;
  readonly minutes: readonly MinuteCounters[];
}

export const MAX_PART_BYTES = 80 * 1024 * 1024;
export const MAX_REPORT_BYTES = 4 * 1024 * 1024;
/** Rows of one report. */
export const MAX_REPORT_MINUTES = 2_000;
const MAX_DOMAIN_ID = 2 ** 31 - 1;
/** Bounds a counter of a minute: far above what ends in one, and far below what columns of 64 bits hold. */
const MAX_COUNTED = 2 ** 48;

export function formatPartKey({ domainId, day, hour, edge, file }: PartKey): string {
  return `${domainId}/${day}/${hour}.${edge}.${file}.log.gz`;
}

/** Returns `undefined` if it is not a key. */
export function parsePartKey(text: string): PartKey | undefined {
  const found =
    /^(0|[1-9]\d{0,9})\/(\d{4}-\d\d-\d\d)\/(\d\d)\.([\w.-]{1,64})\.([a-z0-9-]+-\d{8}T\d{9}Z-\d{4})\.log\.gz$/.exec(
      text,
    );
  if (found === null) return undefined;
  const [, domainId, day = '', hour = '', edge = '', file = ''] = found;
  if (Number(domainId) > MAX_DOMAIN_ID || !isInstant(Date.parse(`${day}T${hour}:00:00Z`))) return undefined;
  return { domainId: Number(domainId), day, hour, edge, file };
}

/** Formats a part: a line of JSON, then the gzip member. */
export function formatPart({ key, gzip, ...head }: LogPart): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ key: formatPartKey(key), ...head })}\n`), gzip]);
}

/** Returns `undefined` if it is not a part. */
export function parsePart(bytes: Buffer): LogPart | undefined {
  const end = bytes.indexOf('\n');
  const head = end === -1 ? undefined : parseObject(bytes.toString('utf8', 0, end));
  if (head === undefined) return undefined;
  const key = typeof head['key'] === 'string' ? parsePartKey(head['key']) : undefined;
  const top = readTopLists(head['top']);
  const { lines, firstAt } = head;
  if (key === undefined || top === undefined || !isCount(lines) || !isInstant(firstAt)) return undefined;
  return { key, lines, firstAt, top, gzip: bytes.subarray(end + 1) };
}

export function formatReport({ minutes, ...rest }: StatisticsReport): string {
  return JSON.stringify({ ...rest, minutes: minutes.map(toRow) });
}

/** Returns `undefined` if it is not a report. */
export function parseReport(text: string): StatisticsReport | undefined {
  const { edge, start, sequence, minutes } = parseObject(text) ?? {};
  if (typeof edge !== 'string' || !/^[\w.-]{1,64}$/.test(edge)) return undefined;
  if (typeof start !== 'string' || !/^[\w-]{1,64}$/.test(start) || !isCount(sequence)) return undefined;
  if (!Array.isArray(minutes) || minutes.length > MAX_REPORT_MINUTES) return undefined;
  const rows = minutes
    .map(fromRow)
    .filter((row) => row !== undefined)
    .filter(isBounded);
  return rows.length === minutes.length ? { edge, start, sequence, minutes: rows } : undefined;
}

function isBounded({ domainId, minute, ...counters }: MinuteCounters): boolean {
  const isKnowable = domainId <= MAX_DOMAIN_ID && minute * MINUTE_MS <= LATEST_MS;
  return isKnowable && Object.values(counters).every((count) => count <= MAX_COUNTED);
}

export function readTopLists(value: unknown): Top | undefined {
  // `as`: each is looked at. Edges of earlier releases count no statuses.
  const { url, referer, client, status = [] } = Object(value) as Partial<Record<TopKind, unknown>>;
  const lists = [url, referer, client, status].map(readHitters);
  const [urls, referers, clients, statuses] = lists;
  if (urls === undefined || referers === undefined || clients === undefined || statuses === undefined) return undefined;
  return { url: urls, referer: referers, client: clients, status: statuses };
}

function readHitters(value: unknown): HeavyHitter[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_TOP) return undefined;
  const read = value.map((one: unknown) => {
    const { value: text, requests, bytes } = Object(one) as Record<string, unknown>; // `as`: each is looked at
    const isText = typeof text === 'string' && text.length <= MAX_TOP_CHARS && !text.includes('\0');
    const isHitter = isText && isCount(requests, MAX_COUNTED) && isCount(bytes, MAX_COUNTED);
    return isHitter ? { value: text, requests, bytes } : undefined;
  });
  const hitters = read.filter((one) => one !== undefined);
  return hitters.length === read.length ? hitters : undefined;
}
