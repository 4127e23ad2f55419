/** The TLS handshake of RTMPS connections, with the certificate of the requested host. */
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket, type TLSSocketOptions } from 'node:tls';

/** Returns the certificate of a host in lower case; `undefined` if there is none, and the client gets an alert. */
export type SecureContexts = (serverName: string) => SecureContext | undefined;

/** Begins the server's side of TLS on a connection. */
export type TlsStart = (raw: Socket) => TLSSocket;

/**
 * Returns the function that begins TLS. A client that names no host gets an alert, too. Sessions are not resumed:
 * connections last, and a resumed one would not request the certificate again.
 */
export function createTlsStart(secureContexts: SecureContexts): TlsStart {
  // This default context has no certificate, so a client for which no other is found gets an alert.
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET,
  });
  const SNICallback: TLSSocketOptions['SNICallback'] = (serverName, done) => {
    let context: SecureContext | undefined;
    try {
      context = secureContexts(serverName.toLowerCase().replace(/\.$/, ''));
    } catch (error) {
      return done(error instanceof Error ? error : new Error(String(error)));
    }
    return done(null, context);
  };
  return (raw) => new TLSSocket(raw, { isServer: true, secureContext, SNICallback });
}
