/** A certificate authority of a test's own, made by openssl, and certificates under it. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { obtain } from '../runner/needs.ts';
import { type Cleanup, temporaryFolder } from '../temporary.ts';

export interface TestAuthority {
  /** PEM of the authority itself, and the file that has it. */
  readonly ca: string;
  readonly caFile: string;
  /** A certificate for these names and addresses. */
  issue(names: readonly string[], options?: IssueOptions): Issued;
}

interface IssueOptions {
  /** True: it expired yesterday. */
  readonly isExpired?: boolean;
  /** Signed by an authority between, which `cert` has behind the leaf. */
  readonly hasIntermediate?: boolean;
  readonly isRsa?: boolean;
  readonly isEd25519?: boolean;
  /** Lines of an extension file of openssl, beside `subjectAltName`. */
  readonly extensions?: readonly string[];
  /** Extensions of the intermediate authority, in place of those that make it one. */
  readonly intermediateExtensions?: readonly string[];
  readonly isIntermediateExpired?: boolean;
  /** Signed with SHA-1. */
  readonly isSha1?: boolean;
  /** Instead of two. */
  readonly days?: number;
}

interface Issued {
  readonly key: string;
  /** The chain without the authority, leaf first. */
  readonly cert: string;
}

/** Declare the test with `needs('openssl')`. */
export function createAuthority(t: Cleanup): TestAuthority {
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
    digest = '-sha256',
  ): string => {
    const name = String(++count);
    writeFileSync(file(`${name}.ext`), `${extension}\n`);
    openssl('req', '-new', ...newKey, '-subj', `/CN=${subject}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    const by = ['-CA', `${issuer}.pem`, '-CAkey', `${issuer}.key`, '-CAcreateserial'];
    const how = ['-days', String(days), '-extfile', `${name}.ext`, digest];
    openssl('x509', '-req', '-in', `${name}.csr`, ...by, ...how, '-out', `${name}.pem`);
    return name;
  };
  return {
    ca: read('ca.pem'),
    caFile: file('ca.pem'),
    issue: (names, options = {}) => {
      const { hasIntermediate = options.intermediateExtensions !== undefined, isExpired, isRsa, isEd25519 } = options;
      const { intermediateExtensions = [IS_AUTHORITY], extensions = [], days = 2, isIntermediateExpired } = options;
      const above = () =>
        sign('ca', 'test intermediate', intermediateExtensions.join('\n'), isIntermediateExpired ? -1 : 2, ecKey);
      const issuer = hasIntermediate ? above() : 'ca';
      const covered = names.map((name) => `${isIP(name) ? 'IP' : 'DNS'}:${name}`).join(',');
      const lines = [...(covered === '' ? [] : [`subjectAltName=${covered}`]), ...extensions].join('\n');
      const newKey = isRsa ? rsaKey : isEd25519 ? ED25519_KEY : ecKey;
      const leaf = sign(issuer, 'test', lines, isExpired ? -1 : days, newKey, options.isSha1 ? '-sha1' : undefined);
      return { key: read(`${leaf}.key`), cert: read(`${leaf}.pem`) + (hasIntermediate ? read(`${issuer}.pem`) : '') };
    },
  };
}

const IS_AUTHORITY = 'basicConstraints=critical,CA:TRUE';
const ED25519_KEY = ['-newkey', 'ed25519', '-nodes'];
