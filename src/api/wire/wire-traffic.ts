/** Log files and statistics, their words on the wire. Used by `wire.ts` only. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { Grain, Sums, TopRow } from '#db/tables/statistics.ts';
import { parseDomainName } from '#model/domain-name.ts';

export interface LogFileView {
  readonly name: string;
  readonly bytes: number;
  readonly url: string;
  readonly day: string;
}

export interface SumsView {
  readonly grain: Grain;
  readonly total: Sums;
  readonly list: readonly (Sums & { readonly at: number })[];
}

export function readLogs({ domain, starttime, endtime }: RequestOf<'log.list'>) {
  return { name: readName(domain), from: starttime, to: endtime };
}

export function readSums({ domain, interval = 'hour', starttime, endtime }: RequestOf<'stat.traffic'>) {
  return { name: domain && readName(domain), grain: interval, from: starttime, to: endtime };
}

export function readTop({ domain, kind, limit, starttime, endtime }: RequestOf<'stat.top'>) {
  return { name: domain && readName(domain), kind, limit, from: starttime, to: endtime };
}

/** Returns the name; text that is not a valid name matches no domain. */
export function readName(text: string): string {
  const parsed = parseDomainName(text);
  return parsed.kind === 'name' ? parsed.name : text;
}

export function writeLogs(logs: { readonly name: string; readonly files: readonly LogFileView[] }): DataOf<'log.list'> {
  return {
    domain: logs.name,
    logfiles: logs.files.map(({ name, bytes, url, day }) => ({ name, size: String(bytes), url, logTime: day })),
  };
}

export function writeTraffic({ grain, total, list }: SumsView): DataOf<'stat.traffic'> {
  const write = ({ bytes_in, bytes_out, bytes_origin, hit_bytes }: Sums) => {
    return { bytes_out, bytes_in, bytes_origin, hit_bytes, hit_ratio: ratio(hit_bytes, bytes_out) };
  };
  return { interval: grain, total: write(total), list: list.map((row) => ({ time: row.at / 1000, ...write(row) })) };
}

export function writeRequests({ grain, total, list }: SumsView): DataOf<'stat.requests'> {
  const write = ({ requests, hits, status_2xx, status_3xx, status_4xx, status_5xx }: Sums) => {
    return { requests, hits, hit_ratio: ratio(hits, requests), status_2xx, status_3xx, status_4xx, status_5xx };
  };
  return { interval: grain, total: write(total), list: list.map((row) => ({ time: row.at / 1000, ...write(row) })) };
}

export function writeTop(rows: readonly TopRow[]): DataOf<'stat.top'> {
  return { approximate: '1', list: rows.map(({ value, requests, bytes }) => ({ value, requests, bytes })) };
}

/** Four digits behind the point; 0 of nothing. */
function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000;
}
