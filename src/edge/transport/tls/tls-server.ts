/**
 * The HTTPS listener: reads the requested server name, lets that site's certificate do the handshake, and passes the
 * connection to the negotiated protocol. A name without a certificate gets an alert, never another site's certificate.
 */
import { createServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Logger } from '#lib/logger.ts';
import { resetSocket } from '#lib/reset-socket.ts';
import type { SiteSource, SiteTable } from '#sites/table.ts';
import { certificatesOf } from '#sites/tls.ts';
import type { Handshake, NoHandshake } from '../../reasons.ts';
import type { Secured } from '../../secured.ts';
import type { Proxies } from '../proxies.ts';
import { type Alert, formatAlert } from './alerts.ts';
import { type Certificates, createCertificates, type Found } from './certificates.ts';
import { type ClientHello, readClientHello } from './client-hello.ts';
import { type FirstBytes, readFirstBytes } from './first-bytes.ts';
import { createRemains, processCpuMs } from './remains.ts';
import type { TicketSecret } from './ticket-keys.ts';
import { createWaitingRoom } from './waiting-room.ts';

export interface TlsServerOptions {
  readonly sites: SiteTable;
  readonly source: Pick<SiteSource, 'getCertificate'>;
  readonly secrets: readonly TicketSecret[];
  readonly maxCertificates: number;
  readonly maxConnections: number;
  readonly maxHandshakes: number;
  /** Limit of the whole handshake, from when the connection opened. */
  readonly handshakeMs: number;
  readonly proxies: Proxies;
  readonly log: Logger;
  onHandshake(handshake: Handshake): void;
  /** Called for plain HTTP. The socket already has an error listener. */
  onPlainHttp(socket: Socket): void;
  onHttp1(socket: TLSSocket, secured: Secured): void;
  onHttp2(socket: TLSSocket, secured: Secured): void;
}

export interface TlsServer {
  readonly server: Server;
  readonly certificates: Certificates;
  /** Returns why a client that asks for this host gets no handshake; `undefined` if it gets one. */
  whyNoHandshake(serverName: string): NoHandshake | undefined;
  /** Ends connections whose handshake is not complete. */
  cutWaiting(): void;
}

export function createTlsServer(options: TlsServerOptions): TlsServer {
  const { sites, proxies, log } = options;
  const waiting = createWaitingRoom({
    ...options,
    onClosed: createRemains({ collect: globalThis.gc, cpuMs: processCpuMs }).noteClosed,
  });

  const certificates = createCertificates({
    ...options,
    onConnection: (socket) => {
      // A peer that has left has no address any more.
      const entry = socket.remoteAddress === undefined ? undefined : waiting.leave(socket);
      if (entry === undefined) return void socket.on('error', ignore).destroy();
      options.onHandshake(socket.isSessionReused() ? 'resumed' : 'full');
      proxies.passOn(entry.raw, socket);
      const version = socket.getProtocol() === 'TLSv1.3' ? '1.3' : '1.2';
      const secured: Secured = { ...entry.secured, version, reset: () => resetSocket(socket, entry.raw) };
      if (socket.alpnProtocol === 'h2') options.onHttp2(socket, secured);
      else options.onHttp1(socket, secured);
    },
    onUnusable: (certificate, error) => log.error({ err: error, certificate }, 'cannot use a certificate'),
  });

  /** Chooses the certificate for a client, or returns the reason for refusing it. */
  const choose = (serverName: string, ticketKeyNames: readonly string[], isAnew = false): Chosen | NoHandshake => {
    const site = sites.find(serverName);
    if (site?.tls === undefined) return 'unknownServerName';
    const { name, tls } = site;
    const found = certificates.find({ name, tls }, serverName, ticketKeyNames);
    if (found === 'missing' && !isAnew) {
      // The site's certificate was replaced after the site was loaded; this worker has not been notified yet.
      sites.forget([name]);
      return choose(serverName, ticketKeyNames, true);
    }
    return found === undefined || found === 'missing'
      ? 'noCertificate'
      : { ...found, certificates: certificatesOf(tls) };
  };

  /** Starts the handshake. Returns the reason if it cannot. */
  const begin = (raw: Socket, bytes: Buffer, hello: ClientHello): Handshake | undefined => {
    const { serverName, ticketKeyNames } = hello;
    if (serverName === undefined) return 'noServerName';
    const chosen = choose(serverName, ticketKeyNames);
    if (typeof chosen === 'string') return chosen;
    const { server: handshakes, certificates: shown, covers } = chosen;
    raw.unshift(bytes); // OpenSSL reads them again
    waiting.secure(raw, { serverName, certificates: shown, covers }, () => handshakes.emit('connection', raw));
    return undefined;
  };

  const server = createServer({ noDelay: true }, (raw) => {
    raw.on('error', ignore);
    waiting.enter(raw);
    readStart(raw, (bytes, start) => {
      if (start.kind === 'plainHttp') return waiting.release(raw, 'plainHttp') && options.onPlainHttp(raw);
      if (start.kind === 'ended') return waiting.end(raw, 'failed');
      if (start.kind === 'malformed') return waiting.end(raw, 'notTls', formatAlert(start.alert));
      const hello = readClientHello(start.message);
      if (hello === undefined) return waiting.end(raw, 'notTls', formatAlert('decodeError'));
      try {
        const problem = begin(raw, bytes, hello);
        if (problem !== undefined) waiting.end(raw, problem, formatAlert(alertFor(problem, hello)));
      } catch (error) {
        log.error({ err: error, serverName: hello.serverName }, 'cannot start a TLS handshake');
        waiting.end(raw, 'failed', formatAlert('internalError'));
      }
    });
  });
  server.maxConnections = options.maxConnections;
  proxies.standBefore(server);
  const whyNoHandshake = (serverName: string) => {
    const chosen = choose(serverName, []);
    return typeof chosen === 'string' ? chosen : undefined;
  };
  return { server, certificates, whyNoHandshake, cutWaiting: waiting.cutAll };
}

interface Chosen extends Found {
  /** The `ssl_key`s of the certificates. */
  readonly certificates: readonly string[];
}

type Start = Exclude<FirstBytes, { readonly kind: 'incomplete' }>;

/**
 * Calls `done` once, with all bytes received. They are parsed again only when enough have arrived, so small pieces cost
 * no more than their bytes.
 */
function readStart(raw: Socket, done: (bytes: Buffer, start: Start) => void): void {
  let pieces: Buffer[] = [];
  let sizeBytes = 0;
  let neededBytes = 1;
  const onData = (chunk: Buffer): void => {
    pieces.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes < neededBytes) return;
    const bytes = pieces.length === 1 ? chunk : Buffer.concat(pieces);
    const start = readFirstBytes(bytes);
    if (start.kind === 'incomplete') {
      pieces = [bytes];
      neededBytes = start.neededBytes;
      return;
    }
    raw.off('data', onData).pause();
    done(bytes, start);
  };
  raw.on('data', onData);
}

/**
 * Returns the alert for a name without a certificate. A TLS 1.3 hello without the required name lacks an extension. RFC
 * 8446 §9.2
 */
function alertFor(problem: Handshake, { offersTls13 }: ClientHello): Alert {
  return problem === 'noServerName' && offersTls13 ? 'missingExtension' : 'unrecognizedName';
}

function ignore(): void {} // shows as closed
