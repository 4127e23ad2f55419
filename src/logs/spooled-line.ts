/** A line of a spool, read back: the domain's id, a TAB, and the 13 fields of docs/access-log.md. Pure. */
import type { CountedRequest } from './counters.ts';
import { CACHE_CODES, type CacheCode } from './line.ts';

export interface SpooledLine {
  readonly domainId: number;
  /** Bytes before the first of the 13 fields. */
  readonly prefixChars: number;
  /** `2025-01-31`, `23`: in the service's time zone. */
  readonly day: string;
  readonly hour: string;
  /** Epoch milliseconds. */
  readonly endedAt: number;
  readonly request: CountedRequest;
  readonly clientAddress: string;
  readonly target: string;
  /** Empty: none. */
  readonly referer: string;
}

const FIELDS = 13;

/** Without the line's end. `undefined`: not such a line, as half a one at the end of a killed process's file. */
export function parseSpooledLine(line: string): SpooledLine | undefined {
  const [id = '', ...fields] = line.split('\t');
  if (fields.length !== FIELDS || !/^\d{1,10}$/.test(id)) return undefined;
  const [
    clientAddress = '',
    time = '',
    ,
    requestBytes,
    responseBytes,
    ,
    ,
    target = '',
    ,
    outcome = '',
    ,
    referer = '',
  ] = fields;
  const endedAt = Date.parse(time);
  const [code = '', status = ''] = outcome.split('/');
  const request = {
    requestBytes: Number(requestBytes),
    responseBytes: Number(responseBytes),
    status: Number(status),
  };
  if (!isCacheCode(code) || !Object.values({ endedAt, ...request }).every(Number.isSafeInteger)) return undefined;
  return {
    domainId: Number(id),
    prefixChars: id.length + 1,
    day: time.slice(0, 10),
    hour: time.slice(11, 13),
    endedAt,
    request: { ...request, cacheCode: code },
    clientAddress,
    target,
    referer: referer === '-' ? '' : referer,
  };
}

function isCacheCode(text: string): text is CacheCode {
  return CACHE_CODES.some((code) => code === text);
}
