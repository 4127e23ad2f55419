/** What a handshake settled for the requests of its connection. */
import type { Site } from '#sites/site.ts';
import { certificatesOf } from '#sites/tls.ts';

export interface Secured {
  /** The name that the client asked for. */
  readonly serverName: string;
  /** The `ssl_key`s of the certificates of which it was shown one. */
  readonly certificates: readonly string[];
  readonly covers: (host: string) => boolean;
  readonly version: '1.2' | '1.3';
  /** Breaks the connection off: TLS itself would end it in order. */
  readonly reset: () => void;
}

/**
 * Whether the connection does not speak for the site of a request: the client was shown another one's certificate. A client may
 * use a connection for every host that its certificate covers. RFC 9110 §7.4, RFC 9113 §9.1.1. Pure.
 */
export function isMisdirected({ tls }: Pick<Site, 'tls'>, host: string, secured: Secured): boolean {
  // Also when the site has another certificate by now: a connection is not cut for that.
  if (host === secured.serverName) return false;
  if (tls === undefined || !hasSame(certificatesOf(tls), secured.certificates) || !secured.covers(host)) return true;
  return tls.minVersion === '1.3' && secured.version !== '1.3';
}

/** Whether the keys are the same in the same order: it is not known which of two certificates a client was shown. */
function hasSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, index) => key === other[index]);
}
