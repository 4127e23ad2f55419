/**
 * The journal of a log file: twice a second while there are lines, a JSON line with their sums and the offset in the
 * log file up to which they are counted. So logs and statistics agree, and lines that a killed process wrote after the
 * last record can still be counted. Pure.
 */
import { isCount } from '#lib/is-count.ts';
import { parseObject } from '#lib/parse-object.ts';
import { COUNTERS, type MinuteCounters } from './counters.ts';

export interface JournalRecord {
  /** Bytes of the log file whose lines are counted by this record and those before it. */
  readonly upTo: number;
  readonly counts: readonly MinuteCounters[];
}

type Row = readonly [domainId: number, minute: number, ...counters: number[]];

/** Returns the record without a line end. */
export function formatRecord({ upTo, counts }: JournalRecord): string {
  return JSON.stringify({ upTo, counts: counts.map(toRow) });
}

/** Returns `undefined` for an incomplete record, as a killed process may leave behind. */
export function parseRecord(line: string): JournalRecord | undefined {
  const { upTo, counts } = parseObject(line) ?? {};
  if (!isCount(upTo) || !Array.isArray(counts)) return undefined;
  const read = counts.map(fromRow);
  const whole = read.filter((one) => one !== undefined);
  return whole.length === read.length ? { upTo, counts: whole } : undefined;
}

export function toRow(counts: MinuteCounters): Row {
  return [counts.domainId, counts.minute, ...COUNTERS.map((name) => counts[name])];
}

/** Returns `undefined` if it is not such a row. */
export function fromRow(row: unknown): MinuteCounters | undefined {
  if (!Array.isArray(row) || row.length !== COUNTERS.length + 2 || !row.every((one) => isCount(one))) return undefined;
  // A literal takes a third of the time of a loop over the names, and with many domains there is a row per request.
  const [domainId = 0, minute = 0, requests = 0, bytesIn = 0, bytesOut = 0, bytesOrigin = 0, hits = 0, hitBytes = 0] =
    row;
  const [status2xx = 0, status3xx = 0, status4xx = 0, status5xx = 0] = row.slice(8);
  return {
    domainId,
    minute,
    requests,
    bytesIn,
    bytesOut,
    bytesOrigin,
    hits,
    hitBytes,
    status2xx,
    status3xx,
    status4xx,
    status5xx,
  };
}
