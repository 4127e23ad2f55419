/** A certificate of a test's own, made by OpenSSL. Declare with `needsProgram('openssl')`. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { findProgram } from './needs.ts';
import { temporaryFolder } from './temporary.ts';

/** For `localhost`, signed by itself; PEM texts. */
export function makeCertificate(t: Pick<TestContext, 'after'>): { readonly cert: string; readonly key: string } {
  const openssl = findProgram('openssl');
  if (openssl === undefined) throw new Error("declare the test with needsProgram('openssl')");
  const folder = temporaryFolder(t);
  const certFile = join(folder, 'cert.pem');
  const keyFile = join(folder, 'key.pem');
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '2'];
  execFileSync(openssl, ['req', '-x509', ...curve, ...name, '-keyout', keyFile, '-out', certFile], { stdio: 'pipe' });
  return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}
