/** Signed addresses at which a log can be followed: bearer links that can be opened for a minute. */
import type { Keyring } from '#db/secrets/keyring.ts';
import {
  checkSigned,
  parseSignature,
  type SignatureState,
  type SignedValues,
  signedQuery,
  type UrlSignature,
} from '../signed-query.ts';

export interface TailAddress {
  readonly accountId: number;
  readonly domainId: number;
  /** Text of the filter. */
  readonly filter: string;
  readonly seconds: number;
}

export const TAIL_PATH = '/tails';
const PURPOSE = 'log tails';

/** Returns path and query. */
export function signedTailPath(ring: Keyring, tail: TailAddress, expires: number): string {
  const query = new URLSearchParams({ filter: tail.filter, seconds: String(tail.seconds) });
  return `${TAIL_PATH}/${tail.accountId}/${tail.domainId}?${query}&${signedQuery(ring, PURPOSE, valuesOf(tail), expires)}`;
}

/** Returns `undefined` if it is not such an address. */
export function parseTailPath(path: string, query: URLSearchParams): (TailAddress & UrlSignature) | undefined {
  const found = /^\/tails\/(\d{1,10})\/(\d{1,10})$/.exec(path);
  const signature = parseSignature(query);
  const seconds = query.get('seconds') ?? '';
  if (found === null || signature === undefined || !/^\d{1,4}$/.test(seconds)) return undefined;
  const [, accountId, domainId] = found;
  return {
    accountId: Number(accountId),
    domainId: Number(domainId),
    filter: query.get('filter') ?? '',
    seconds: Number(seconds),
    ...signature,
  };
}

export function checkTailSignature(ring: Keyring, tail: TailAddress & UrlSignature, now: number): SignatureState {
  return checkSigned(ring, PURPOSE, valuesOf(tail), tail, now);
}

function valuesOf({ accountId, domainId, filter, seconds }: TailAddress): SignedValues {
  return [accountId, domainId, filter, seconds];
}
