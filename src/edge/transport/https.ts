/** HTTPS for viewers: joins the TLS listener with its certificates and the protocols over it. */
import type { Registry } from 'prom-client';
import type { ListenOptions } from '#lib/listen.ts';
import { metricsOf } from '#lib/metrics.ts';
import type { SiteSource } from '#sites/table.ts';
import { createHttp2Sessions } from './http2/session.ts';
import type { HttpServer } from './node-http/http-server.ts';
import type { ServerParts } from './server-parts.ts';
import type { Certificates } from './tls/certificates.ts';
import type { TicketSecret } from './tls/ticket-keys.ts';
import { createTlsServer, type TlsServer } from './tls/tls-server.ts';

export interface HttpsOptions extends Pick<ListenOptions, 'listen' | 'sockets'> {
  readonly certificates: Pick<SiteSource, 'getCertificate'>;
  /** The newest first; at least one. */
  readonly ticketSecrets: readonly TicketSecret[];
}

/** Controls of a running HTTPS edge. */
export interface Https extends Pick<Certificates, 'forget' | 'useTicketSecrets'> {
  readonly port: number;
}

export interface HttpsServer extends Pick<TlsServer, 'server' | 'certificates' | 'whyNoHandshake'> {
  /** Asks clients of HTTP/2 to continue on other connections. */
  drain(): void;
  /** Accepts no new connections or requests. */
  close(): void;
  cutAll(): void;
}

export function createHttpsServer(
  options: HttpsOptions,
  parts: ServerParts & { readonly registry: Registry },
  http: HttpServer,
): HttpsServer {
  const { edge, limits, connections, proxies } = parts;
  const http2 = createHttp2Sessions(parts);
  const tls = createTlsServer({
    sites: edge.sites,
    source: options.certificates,
    secrets: options.ticketSecrets,
    maxCertificates: limits.maxCertificates,
    maxConnections: limits.maxTlsConnections,
    maxHandshakes: limits.maxHandshakes,
    handshakeMs: limits.handshakeMs,
    proxies,
    log: edge.log,
    onHandshake: edge.metrics.countHandshake,
    onPlainHttp: http.refusePlain,
    onHttp1: (socket, secured) => {
      connections.secure(socket, secured);
      http.take(socket);
    },
    onHttp2: http2.serve,
  });
  metricsOf(parts.registry).gauge('causeway_edge_expired_certificates', 'Certificates in use that have expired.', () =>
    tls.certificates.countExpired(edge.clock()),
  );
  return {
    server: tls.server,
    certificates: tls.certificates,
    whyNoHandshake: tls.whyNoHandshake,
    drain: http2.drain,
    close: () => {
      tls.cutWaiting();
      http2.close();
    },
    cutAll: http2.cutAll,
  };
}
