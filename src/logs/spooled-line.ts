/**
 * Formats and parses the lines of a spool: the domain's id, a TAB, and the 13 fields of docs/access-log.md. A zero
 * before the id marks a further line of a long-lived answer, whose request was counted before. docs/decisions/0498.
 * Pure.
 */
import type { LocalTime } from '#lib/local-time.ts';
import type { CountedRequest } from './counters.ts';
import { type AccessRecord, CACHE_CODES, type CacheCode, formatLine, LINE_FIELDS } from './line.ts';

/** Returns the line without a line end. */
export function formatSpooledLine(domainId: number, record: AccessRecord, zone: LocalTime): string {
  return `${record.isContinued === true ? '0' : ''}${domainId}\t${formatLine(record, zone)}`;
}

/** Returns the id as text, the same string object for all lines of a domain. */
export function idOfPrefix(prefix: string): string {
  return prefix.length > 1 && prefix.startsWith('0') ? prefix.slice(1) : prefix;
}

export interface SpooledLine {
  readonly domainId: number;
  /** Bytes before the first of the 13 fields. */
  readonly prefixChars: number;
  /** Epoch milliseconds. */
  readonly endedAt: number;
  readonly request: CountedRequest;
  readonly clientAddress: string;
  readonly target: string;
  /** Empty: none. */
  readonly referer: string;
}

/** The id and the fields. */
const FIELDS = 1 + LINE_FIELDS.length;
const TARGET = 1 + LINE_FIELDS.indexOf('target');
const OUTCOME = 1 + LINE_FIELDS.indexOf('outcome');
const REFERER = 1 + LINE_FIELDS.indexOf('referer');

/**
 * Parses a line without its line end. Returns `undefined` if it is invalid, such as an incomplete line of a killed
 * process.
 */
export function parseSpooledLine(line: string): SpooledLine | undefined {
  const fields = line.split('\t');
  const [id = '', clientAddress = '', time = '', , requestBytes, responseBytes] = fields;
  if (fields.length !== FIELDS || !/^0?\d{1,10}$/.test(id)) return undefined;
  const target = fields[TARGET] ?? '';
  const outcome = fields[OUTCOME] ?? '';
  const referer = fields[REFERER] ?? '';
  const slash = outcome.indexOf('/');
  const cacheCode = outcome.slice(0, slash);
  const endedAt = Date.parse(time);
  const request = {
    isContinued: id.length > 1 && id.startsWith('0'),
    requestBytes: Number(requestBytes),
    responseBytes: Number(responseBytes),
    status: Number(outcome.slice(slash + 1)),
  };
  const isWhole =
    Number.isSafeInteger(endedAt) &&
    Number.isSafeInteger(request.requestBytes) &&
    Number.isSafeInteger(request.responseBytes) &&
    Number.isSafeInteger(request.status);
  if (!isCacheCode(cacheCode) || !isWhole) return undefined;
  return {
    domainId: Number(id),
    prefixChars: id.length + 1,
    endedAt,
    request: { ...request, cacheCode },
    clientAddress,
    target,
    referer: referer === '-' ? '' : referer,
  };
}

const KNOWN_CODES: ReadonlySet<string> = new Set(CACHE_CODES);

function isCacheCode(text: string): text is CacheCode {
  return KNOWN_CODES.has(text);
}
