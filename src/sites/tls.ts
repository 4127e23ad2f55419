/** HTTPS of a site, compiled: which certificate, and what a client is told about it. */
import { expected, readInteger, readObject, readOneOf, readText } from './members.ts';
import type { TlsSpec } from './spec.ts';

export interface SiteTls {
  /** Its key in the edge's file; what is under a key never changes. */
  readonly certificate: string;
  /** Plain HTTP is redirected to HTTPS. */
  readonly forceHttps: boolean;
  /** 0: no `Strict-Transport-Security`. */
  readonly hstsMaxAgeSeconds: number;
  readonly minVersion: '1.2' | '1.3';
}

/** Two years: more than the lists of browsers ask for. */
const MAX_HSTS_SECONDS = 2 * 365 * 24 * 3600;
const VERSIONS = ['1.2', '1.3'] as const satisfies TlsSpec['minVersion'][];

/** Throws `Problem`. */
export function readTls(value: unknown): SiteTls {
  const members = readObject('tls', value);
  const certificate = readText('tls.certificate', members['certificate']);
  if (!/^[!-~]{1,128}$/.test(certificate))
    throw expected('tls.certificate', 'a key of 1 to 128 characters', certificate);
  return {
    certificate,
    forceHttps: readOneOf('tls.forceHttps', members['forceHttps'] ?? false, [true, false]),
    hstsMaxAgeSeconds: readInteger('tls.hstsMaxAgeSeconds', members['hstsMaxAgeSeconds'] ?? 0, MAX_HSTS_SECONDS, 0),
    minVersion: readOneOf('tls.minVersion', members['minVersion'] ?? '1.2', VERSIONS),
  };
}
