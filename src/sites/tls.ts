/** HTTPS of a site, compiled: its certificates and HSTS. */
import { HTTPS_SETTINGS, type HttpsSettings } from '#model/settings.ts';
import { expected, readObject, readSettings, readText } from './members.ts';

export interface SiteTls extends HttpsSettings {
  /** Key of the certificate in the edge's file; the certificate under a key never changes. */
  readonly certificate: string;
  /** Another one, with another kind of key. */
  readonly secondCertificate?: string;
}

/** Throws `SpecProblem`. */
export function readTls(value: unknown): SiteTls {
  const members = readObject('tls', value);
  const second = members['secondCertificate'];
  return {
    certificate: readKey('tls.certificate', members['certificate']),
    ...(second !== undefined && { secondCertificate: readKey('tls.secondCertificate', second) }),
    ...readSettings('tls.', HTTPS_SETTINGS, members),
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
