/** Signed addresses of log files: bearer links that expire. */
import type { Keyring } from '#db/secrets/keyring.ts';
import {
  checkSigned,
  parseSignature,
  type SignatureState,
  type SignedValues,
  signedQuery,
  type UrlSignature,
} from './signed-query.ts';

/** One day's file of one domain. */
export interface LogFile {
  readonly accountId: number;
  readonly domainId: number;
  /** `YYYY-MM-DD` */
  readonly day: string;
  /** File name under which the download is saved. */
  readonly name: string;
}

export type SignedLog = LogFile & UrlSignature;

/**
 * Returns a name such as `www.example.com_2026-01-31.log.gz`; a wildcard's begins with `_.`. `former`: id of an earlier
 * domain of that name.
 */
export function logFileName(domain: string, day: string, former?: number): string {
  const name = domain.replace(/^\*\./, '_.');
  return former === undefined ? `${name}_${day}.log.gz` : `${name}_${day}_${former}.log.gz`;
}

/** Returns path and query. */
export function signedLogPath(ring: Keyring, file: LogFile, expires: number): string {
  const query = signedQuery(ring, PURPOSE, valuesOf(file), expires);
  return `${LOG_PATH}/${file.accountId}/${file.domainId}/${file.day}/${encodeURIComponent(file.name)}?${query}`;
}

export const LOG_PATH = '/logs';

/** Returns `undefined` if it is not such an address. */
export function parseLogPath(path: string, query: URLSearchParams): SignedLog | undefined {
  const found = /^\/logs\/(\d{1,10})\/(\d{1,10})\/(\d{4}-\d\d-\d\d)\/([\w.-]{1,300})$/.exec(path);
  const signature = parseSignature(query);
  if (found === null || signature === undefined) return undefined;
  const [, accountId, domainId, day = '', name = ''] = found;
  return {
    accountId: Number(accountId),
    domainId: Number(domainId),
    day,
    name,
    ...signature,
  };
}

export function checkSignature(ring: Keyring, log: SignedLog, now: number): SignatureState {
  return checkSigned(ring, PURPOSE, valuesOf(log), log, now);
}

const PURPOSE = 'log downloads';

function valuesOf({ accountId, domainId, day, name }: LogFile): SignedValues {
  return [accountId, domainId, day, name];
}
