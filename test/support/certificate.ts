/** A certificate authority of a test's own, made by openssl, and certificates under it. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { obtain } from './needs.ts';
import { temporaryFolder } from './temporary.ts';

export interface TestAuthority {
  /** PEM of the authority itself, and the file that has it. */
  readonly ca: string;
  readonly caFile: string;
  /** A certificate for these names and addresses. */
  issue(names: readonly string[], options?: IssueOptions): Issued;
}

interface IssueOptions {
  /** Since yesterday. */
  readonly isExpired?: boolean;
  /** Signed by an authority between, which `cert` has behind the leaf. */
  readonly hasIntermediate?: boolean;
  readonly isRsa?: boolean;
}

interface Issued {
  readonly key: string;
  /** The chain without the authority, leaf first. */
  readonly cert: string;
}

/** Declare the test with `needs('openssl')`. */
export function createAuthority(t: Pick<TestContext, 'after'>): TestAuthority {
  const program = obtain('openssl');
  const folder = temporaryFolder(t);
  const file = (name: string) => join(folder, name);
  const read = (name: string) => readFileSync(file(name), 'utf8');
  const openssl = (...args: string[]) =>
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder });
  const ecKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const rsaKey = ['-newkey', 'rsa:2048', '-nodes'];
  openssl('req', '-x509', ...ecKey, '-days', '2', '-subj', '/CN=test authority', '-keyout', 'ca.key', '-out', 'ca.pem');
  let count = 0;
  const sign = (
    issuer: string,
    subject: string,
    extension: string,
    days: number,
    newKey: readonly string[],
  ): string => {
    const name = String(++count);
    writeFileSync(file(`${name}.ext`), `${extension}\n`);
    openssl('req', '-new', ...newKey, '-subj', `/CN=${subject}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    const by = ['-CA', `${issuer}.pem`, '-CAkey', `${issuer}.key`, '-CAcreateserial'];
    const how = ['-days', String(days), '-extfile', `${name}.ext`];
    openssl('x509', '-req', '-in', `${name}.csr`, ...by, ...how, '-out', `${name}.pem`);
    return name;
  };
  return {
    ca: read('ca.pem'),
    caFile: file('ca.pem'),
    issue: (names, { isExpired = false, hasIntermediate = false, isRsa = false } = {}) => {
      const issuer = hasIntermediate
        ? sign('ca', 'test intermediate', 'basicConstraints=critical,CA:TRUE', 2, ecKey)
        : 'ca';
      const covered = names.map((name) => `${isIP(name) ? 'IP' : 'DNS'}:${name}`).join(',');
      const leaf = sign(issuer, 'test', `subjectAltName=${covered}`, isExpired ? -1 : 2, isRsa ? rsaKey : ecKey);
      return { key: read(`${leaf}.key`), cert: read(`${leaf}.pem`) + (hasIntermediate ? read(`${issuer}.pem`) : '') };
    },
  };
}
