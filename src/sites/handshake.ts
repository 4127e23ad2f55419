/** How an edge's handshakes are done, for the edge and for control, which tries each certificate before it takes it. */
import { constants, X509Certificate } from 'node:crypto';
import type { TlsOptions } from 'node:tls';
import { coversName, readNames } from '#model/certificate-names.ts';
import type { CertificatePair } from './table.ts';
import type { SiteTls } from './tls.ts';

/** `pairs`: of different kinds of key; OpenSSL chooses the one that the client's signature algorithms and ciphers fit. */
export function handshakeOptions(pairs: readonly CertificatePair[], minVersion: SiteTls['minVersion']): TlsOptions {
  return {
    cert: pairs.map(({ certificate }) => certificate),
    key: pairs.map(({ key }) => key),
    minVersion: `TLSv${minVersion}`,
    ciphers: CIPHERS,
    honorCipherOrder: false, // all are good, and a client knows which of them its machine is made for
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}

/** Which hosts a certificate covers, in the same words as control. `chain`: PEM, leaf first; throws when it cannot be read. */
export function coverOf(chain: string): (host: string) => boolean {
  const names = readNames(new X509Certificate(chain));
  return (host) => coversName(names, host);
}

/** The ciphers of TLS 1.2 with forward secrecy and authenticated encryption; for 1.3 all of OpenSSL's. RFC 9325 §4.2 */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');
