/** HTTPS of a site, compiled: which certificate, and what a client is told about it. */
import { MAX_HSTS_SECONDS } from '#model/limits.ts';
import { expected, readInteger, readObject, readOneOf, readText } from './members.ts';
import type { TlsSpec } from './spec.ts';

export interface SiteTls {
  /** Key of the certificate in the edge's file; the certificate under a key never changes. */
  readonly certificate: string;
  /** Another one, with another kind of key. */
  readonly secondCertificate?: string;
  /** Plain HTTP is redirected to HTTPS. */
  readonly forceHttps: boolean;
  /** 0: no `Strict-Transport-Security`. */
  readonly hstsMaxAgeSeconds: number;
  readonly minVersion: '1.2' | '1.3';
}

const VERSIONS = ['1.2', '1.3'] as const satisfies TlsSpec['minVersion'][];

/** Throws `Problem`. */
export function readTls(value: unknown): SiteTls {
  const members = readObject('tls', value);
  const second = members['secondCertificate'];
  return {
    certificate: readKey('tls.certificate', members['certificate']),
    ...(second !== undefined && { secondCertificate: readKey('tls.secondCertificate', second) }),
    forceHttps: readOneOf('tls.forceHttps', members['forceHttps'] ?? false, [true, false]),
    hstsMaxAgeSeconds: readInteger('tls.hstsMaxAgeSeconds', members['hstsMaxAgeSeconds'] ?? 0, MAX_HSTS_SECONDS, 0),
    minVersion: readOneOf('tls.minVersion', members['minVersion'] ?? '1.2', VERSIONS),
  };
}

function readKey(member: string, value: unknown): string {
  const key = readText(member, value);
  if (!/^[!-~]{1,128}$/.test(key)) throw expected(member, 'a key of 1 to 128 characters', key);
  return key;
}

/** The keys of the certificates that a site has, one or two. */
export function certificatesOf({ certificate, secondCertificate }: SiteTls): readonly string[] {
  return secondCertificate === undefined ? [certificate] : [certificate, secondCertificate];
}
