/**
 * Signed URLs of log downloads, valid for anyone until they expire. The key is derived from the key ring, so control
 * remembers no URL.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '#db/keyring.ts';

/** One day's file of one domain. */
export interface LogFile {
  readonly accountId: number;
  readonly domainId: number;
  /** `YYYY-MM-DD` */
  readonly day: string;
  /** File name under which the download is saved. */
  readonly name: string;
}

export interface SignedLog extends LogFile {
  /** Unix seconds. */
  readonly expires: number;
  /** Id of the key in the key ring that signed the URL. */
  readonly keyId: string;
  readonly signature: string;
}

/** `www.example.com_2026-01-31.log.gz`; a wildcard's begins with `_.`. `former`: the id of a domain that had the name before. */
export function logFileName(domain: string, day: string, former?: number): string {
  const name = domain.replace(/^\*\./, '_.');
  return former === undefined ? `${name}_${day}.log.gz` : `${name}_${day}_${former}.log.gz`;
}

/** Path and query. */
export function signedLogPath(ring: Keyring, file: LogFile, expires: number): string {
  const { id, key } = ring.newest;
  const query = new URLSearchParams({ expires: String(expires), key: id, signature: sign(key, file, expires) });
  return `${LOG_PATH}/${file.accountId}/${file.domainId}/${file.day}/${encodeURIComponent(file.name)}?${query}`;
}

export const LOG_PATH = '/logs';

/** `undefined`: not such an address. */
export function parseLogPath(path: string, query: URLSearchParams): SignedLog | undefined {
  const found = /^\/logs\/(\d{1,10})\/(\d{1,10})\/(\d{4}-\d\d-\d\d)\/([\w.-]{1,300})$/.exec(path);
  const expires = query.get('expires') ?? '';
  if (found === null || !/^\d{1,12}$/.test(expires)) return undefined;
  const [, accountId, domainId, day = '', name = ''] = found;
  return {
    accountId: Number(accountId),
    domainId: Number(domainId),
    day,
    name,
    expires: Number(expires),
    keyId: query.get('key') ?? '',
    signature: query.get('signature') ?? '',
  };
}

/** Compared in constant time. */
export function checkSignature(ring: Keyring, log: SignedLog, now: number): 'valid' | 'invalid' | 'expired' {
  const key = ring.find(log.keyId)?.key;
  if (key === undefined) return 'invalid';
  const expected = Buffer.from(sign(key, log, log.expires));
  const given = Buffer.from(log.signature);
  if (expected.length !== given.length || !timingSafeEqual(expected, given)) return 'invalid';
  return now < log.expires * 1000 ? 'valid' : 'expired';
}

function sign(ringKey: Buffer, { accountId, domainId, day, name }: LogFile, expires: number): string {
  const key = Buffer.from(hkdfSync('sha256', ringKey, '', 'log downloads', 32));
  return createHmac('sha256', key)
    .update(JSON.stringify([accountId, domainId, day, name, expires]))
    .digest('base64url');
}
