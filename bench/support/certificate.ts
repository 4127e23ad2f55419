/** A self-signed certificate for the servers of a bench: `cert.pem` and `key.pem` in a folder. ECDSA P-256. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CertificatePair } from '#sites/table.ts';

export function makeCertificate(folder: string, names: readonly string[]): CertificatePair {
  const ecKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'key.pem'];
  const alternatives = `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`;
  const named = ['-subj', '/CN=x', '-addext', alternatives, '-days', '2', '-out', 'cert.pem'];
  execFileSync('openssl', ['req', '-x509', ...ecKey, ...named], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  return { certificate: read('cert.pem'), key: read('key.pem') };
}
