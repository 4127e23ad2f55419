/** Tries a certificate as an edge would use it: one handshake in memory, with a client that trusts the end of its chain. */
import { duplexPair } from 'node:stream';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import { handshakeOptions } from '#sites/handshake.ts';
import type { CertificatePair } from '#sites/table.ts';

export type Trial =
  /** No client gets a handshake; `reason` is OpenSSL's. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** `problem`: the code under which the client refuses the chain; `undefined`: it accepts it. */
  | { readonly kind: 'done'; readonly problem: string | undefined };

/**
 * Tries the certificate over TLS 1.2, where OpenSSL is stricter than over 1.3: it serves no ECDSA key whose usage
 * excludes signatures. OpenSSL uses the clock of the machine, so validity is left to the caller.
 */
export async function tryCertificate(pair: CertificatePair): Promise<Trial> {
  const [near, far] = duplexPair();
  const secureContext = createSecureContext(handshakeOptions([pair], '1.2'));
  const server = new TLSSocket(near, { isServer: true, secureContext });
  const client = connect({
    socket: far,
    ca: pair.certificate.slice(pair.certificate.lastIndexOf('-----BEGIN ')),
    allowPartialTrustChain: true,
    rejectUnauthorized: false, // `authorizationError` has what the client would have refused it for
    checkServerIdentity: () => undefined, // names are compared with those of domains
    maxVersion: 'TLSv1.2',
  });
  const trial = new Promise<Trial>((resolve) => {
    const fail = (error: Error) => resolve({ kind: 'failed', reason: inWords(error) });
    for (const socket of [server, client]) {
      socket.on('error', fail).on('close', () => fail(new Error('the connection was closed')));
    }
    client.on('secureConnect', () => resolve({ kind: 'done', problem: readProblem(client.authorizationError) }));
  });
  try {
    return await trial;
  } finally {
    for (const socket of [client, server]) socket.destroy();
  }
}

/** OpenSSL's sentence without numbers and places in its sources. */
function inWords(error: Error): string {
  return 'reason' in error ? String(error.reason) : error.message.split('\n', 1).join('');
}

/** A code, although Node's types say `Error`. */
function readProblem(error: unknown): string | undefined {
  const code = error === null || error === undefined ? undefined : String(error);
  return code === undefined || TIME_PROBLEMS.includes(code) ? undefined : code;
}

const TIME_PROBLEMS: readonly string[] = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'];
