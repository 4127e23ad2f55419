/** An edge with HTTPS, whose certificates are a test authority's, and programs that ask it as viewers do. */
import { execFile, spawn } from 'node:child_process';
import type { TestContext } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import type { SiteSpec, TlsSpec } from '../../../src/sites/spec.ts';
import type { CertificatePair } from '../../../src/sites/table.ts';
import { createAuthority, type TestAuthority } from '../certificates/certificate.ts';
import { obtain } from '../runner/needs.ts';
import { loopback, NO_ORIGINS, SITE_HOST, startTestEdge, type TestEdge } from './edge.ts';
import { type Answer, reply, type ScriptedOrigin, startOrigin } from './origin.ts';

export interface HttpsEdge extends TestEdge {
  readonly origin: ScriptedOrigin;
  readonly authority: TestAuthority;
  readonly httpsPort: number;
  /** Certificates by their keys; `c1` is for the first site. */
  readonly certificates: Map<string, CertificatePair>;
  /** Issues one for these names. */
  addCertificate(key: string, ...issue: Parameters<TestAuthority['issue']>): void;
  /** Adds or changes a site that has HTTPS. */
  putTls(name: string, tls: Partial<TlsSpec>, change?: Partial<SiteSpec>): void;
  curl(url: string, ...args: readonly string[]): Promise<Curled>;
  /** What `openssl s_client` says, after sending `input`. */
  sClient(serverName: string, args?: readonly string[], input?: string): Promise<string>;
  /** Connections by what became of their handshake. */
  handshakes(): Promise<Readonly<Record<string, number>>>;
}

/** The authority of a process's tests, and the certificate of their site: each takes two runs of openssl. */
const made: { authority?: TestAuthority; ofSite?: CertificatePair } = {};

function shared(): { readonly authority: TestAuthority; readonly ofSite: CertificatePair } {
  made.authority ??= createAuthority({ after: (remove) => process.once('exit', remove) });
  made.ofSite ??= issuedBy(made.authority, [SITE_HOST]);
  return { authority: made.authority, ofSite: made.ofSite };
}

function issuedBy(authority: TestAuthority, ...issue: Parameters<TestAuthority['issue']>): CertificatePair {
  const { cert, key } = authority.issue(...issue);
  return { certificate: cert, key };
}

export interface Curled {
  /** Exit code of curl. */
  readonly exitCode: number;
  readonly version: string;
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly problem: string;
}

type EdgeOptions = Parameters<typeof startTestEdge>[2];

/** A site `www.example.com` with an origin that answers so, and HTTPS. Declare with `needs('openssl')`, and `curl` where it is used. */
export async function startHttpsEdge(
  t: Pick<TestContext, 'after'>,
  script: Answer = reply('hello'),
  options: EdgeOptions = {},
): Promise<HttpsEdge> {
  obtain('openssl');
  const { authority, ofSite } = shared();
  const certificates = new Map<string, CertificatePair>();
  const origin = await startOrigin(t, script);
  const edge = await startTestEdge(t, [origin.port], { certificates, ...options });
  const origins = { ...NO_ORIGINS, primary: loopback([origin.port]) };
  const httpsPort = edge.edge.https?.port ?? 0;
  const addCertificate: HttpsEdge['addCertificate'] = (key, ...issue) =>
    void certificates.set(key, issuedBy(authority, ...issue));
  const putTls: HttpsEdge['putTls'] = (name, tls, change = {}) =>
    edge.put({ name, origins, ...change, tls: { certificate: 'c1', ...tls } });
  certificates.set('c1', ofSite);
  putTls(SITE_HOST, {});
  return {
    ...edge,
    origin,
    authority,
    httpsPort,
    certificates,
    addCertificate,
    putTls,
    curl: (url, ...args) => {
      const { protocol, hostname } = new URL(url);
      const port = protocol === 'https:' ? httpsPort : edge.port;
      return runCurl([
        ...['--cacert', authority.caFile, '--connect-to', `${hostname}::127.0.0.1:${port}`],
        ...args,
        url,
      ]);
    },
    sClient: (serverName, args = [], input = '') => {
      const name = serverName === '' ? ['-noservername'] : ['-servername', serverName];
      return runSClient(['-connect', `127.0.0.1:${httpsPort}`, '-CAfile', authority.caFile, ...name, ...args], input);
    },
    handshakes: async () =>
      Object.fromEntries(
        [...(await edge.registry.metrics()).matchAll(/handshakes_total\{outcome="(\w+)"\} (\d+)/g)].map(
          ([, outcome, count]) => [outcome, Number(count)],
        ),
      ),
  };
}

async function runCurl(args: readonly string[]): Promise<Curled> {
  const marked = ['-sS', '-i', '--max-time', '20', '-w', `\n${MARK}%{http_version} %{http_code} %{size_header}`];
  const failed = (error: unknown) => {
    // `as`: what execFile rejects with.
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  };
  const run = promisify(execFile)(obtain('curl'), [...marked, ...args], {
    encoding: 'latin1',
    maxBuffer: 64 * 1024 * 1024,
  });
  const { code, stdout, stderr } = await run.then((said) => ({ code: 0, ...said }), failed);
  const at = stdout.lastIndexOf(`\n${MARK}`);
  const [version = '', status = '', headBytes = ''] = stdout.slice(at + 1 + MARK.length).split(' ');
  const head = stdout.slice(0, Number(headBytes));
  const lines = head.trimEnd().split('\r\n\r\n').at(-1)?.split('\r\n').slice(1) ?? [];
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(':', 1)[0]?.toLowerCase(), line.replace(/^[^:]*: */, '')]),
  );
  return {
    exitCode: code,
    version,
    status: Number(status),
    headers,
    body: stdout.slice(head.length, at),
    problem: stderr,
  };
}

const MARK = 'curl says ';

/** A client of `www.example.com` that speaks HTTP/1.1; ended with the test. */
export function connectTls(t: Pick<TestContext, 'after'>, { httpsPort, authority }: HttpsEdge): TLSSocket {
  const client = connect({ port: httpsPort, servername: SITE_HOST, ca: authority.ca, ALPNProtocols: ['http/1.1'] });
  t.after(() => client.destroy());
  return client;
}

/** Ends when the server closes the connection, or has answered a request that asks for that. */
export function runSClient(args: readonly string[], input: string): Promise<string> {
  const child = spawn(obtain('openssl'), ['s_client', ...args], { stdio: ['pipe', 'pipe', 'pipe'], timeout: 60_000 });
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('latin1').on('data', (text: string) => (said += text));
  child.stdin.on('error', () => undefined); // it ended before it read everything
  child.stdin.end(input);
  return new Promise((resolve) => child.once('close', () => resolve(said)));
}
