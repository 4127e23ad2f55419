/** A certificate authority of a test's own, made by openssl, and certificates under it. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from './temporary.ts';

export interface TestAuthority {
  /** PEM of the authority itself. */
  readonly ca: string;
  /** A certificate for these names and addresses, valid today. */
  issue(names: readonly string[]): { readonly key: string; readonly cert: string };
}

/** Declare the test with `needsProgram('openssl')`. */
export function createAuthority(t: Pick<TestContext, 'after'>): TestAuthority {
  const folder = temporaryFolder(t);
  const file = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-days',
    '2',
    '-subj',
    '/CN=test authority',
    '-keyout',
    file('ca.key'),
    '-out',
    file('ca.pem'),
  );
  let count = 0;
  return {
    ca: readFileSync(file('ca.pem'), 'utf8'),
    issue: (names) => {
      const [key, request, cert, extensions] = ['key', 'csr', 'pem', 'ext'].map((end) => file(`${++count}.${end}`));
      if (!key || !request || !cert || !extensions) throw new Error('four names were made');
      writeFileSync(
        extensions,
        `subjectAltName=${names.map((name) => `${isIP(name) ? 'IP' : 'DNS'}:${name}`).join(',')}\n`,
      );
      openssl('req', '-new', ...newKey, '-subj', '/CN=test', '-keyout', key, '-out', request);
      openssl(
        'x509',
        '-req',
        '-in',
        request,
        '-CA',
        file('ca.pem'),
        '-CAkey',
        file('ca.key'),
        '-CAcreateserial',
        '-days',
        '2',
        '-extfile',
        extensions,
        '-out',
        cert,
      );
      return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
    },
  };
}
