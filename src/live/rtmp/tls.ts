/** RTMPS: the handshake of TLS on a client's connection, with the certificate of the host that it asks for. */
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket, type TLSSocketOptions } from 'node:tls';

/** The certificate for a host, in lower case; `undefined`: there is none, and the client gets an alert. */
export type SecureContexts = (serverName: string) => SecureContext | undefined;

/** Begins the server's side of TLS on a connection. */
export type TlsStart = (raw: Socket) => TLSSocket;

/**
 * A client that names no host gets an alert too. Sessions are not resumed: a connection lasts, and one that is resumed would not
 * ask for its certificate again.
 */
export function createTlsStart(secureContexts: SecureContexts): TlsStart {
  // The default context has no certificate, so a client that is not given another context gets an alert.
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
