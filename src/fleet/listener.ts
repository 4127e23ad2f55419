/**
 * The listener for edges on other machines: TLS 1.3 with client certificates, each looked up at every connection. It
 * answers enrolment and renewal itself and passes other requests on. docs/decisions/0583
 */
import { constants } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { readFleet } from '#db/tables/fleet/authorities.ts';
import type { Peer } from '#feed/publish/peer.ts';
import { MAX_UPLOAD_MS } from '#feed/wire/ask-messages.ts';
import { createAddressSet, unmapAddress } from '#lib/cidr.ts';
import type { Clock } from '#lib/clock.ts';
import { closeServers, listen } from '#lib/listen.ts';
import type { ListenAddress } from '#lib/listen-address.ts';
import type { Logger } from '#lib/logger.ts';
import { receiveProxyHeader } from '#lib/proxy-header.ts';
import { settleAll } from '#lib/settle-all.ts';
import { createSharedRuns } from '#lib/shared-runs.ts';
import { createEdgeConnections, type EdgeConnections } from './connections.ts';
import { ensureAuthority } from './ensure-authority.ts';
import { createHandshakes, type Handshakes } from './handshakes.ts';
import { createPeers, type Peers, type VerifiedLeaf, verifyLeaf } from './peers.ts';
import { type ConnectionFacts, createRequestHandler, type FleetCounts } from './requests.ts';
import { makeTrust, type OwnFiles, readOwnTrust, type Trust } from './trust.ts';

export interface FleetListenerOptions {
  readonly db: Db;
  readonly ring: Keyring;
  readonly listen: ListenAddress;
  /** Present with the operator's own public-key infrastructure. */
  readonly own?: OwnFiles | undefined;
  /** `required`: connections of `trustedProxies` begin with a PROXY header. */
  readonly proxyProtocol: 'off' | 'required';
  readonly trustedProxies: readonly string[];
  /** Time after its end in which a certificate may be renewed. */
  readonly graceMs: number;
  /** Addresses of controls that edges are told, `https://host:port`. */
  readonly controls: readonly string[];
  /** Handles the requests of edges. */
  readonly onRequest: (request: IncomingMessage, response: ServerResponse, peer: Peer) => Promise<void> | void;
  readonly clock: Clock;
  readonly steadyClock: Clock;
  readonly log: Logger;
}

export interface FleetListener extends AsyncDisposable {
  readonly port: number;
  /** Number of open connections of edges. */
  readonly connections: number;
  readonly counts: FleetCounts;
  /** Something of the fleet has changed in the database: looks at it now instead of at the next look. */
  look(): void;
}

/** 3,000 edges with a stream and four connections for short requests each, and those of strangers. */
const MAX_CONNECTIONS = 16_000;
/** A thousand edges return together, each with two connections and a round trip of 200 ms. docs/decisions/0513 */
const HANDSHAKES = { max: 1000, timeMs: 10_000 };
const PROXY_HEADER_MS = 5000;
const MAX_FIELDS_BYTES = 16 * 1024;
const HEADERS_MS = 10_000;
/** Idle connections are closed by edges, so that no request meets a connection that is just being closed. */
const KEEP_ALIVE_MS = 65_000;
/** A notification may be missed, and SQLite has none: a revocation is to be noticed within a second. */
const LOOK_MS = 500;
const CLOSE_GRACE_MS = 1000;

const TLS_OPTIONS = {
  minVersion: 'TLSv1.3',
  requestCert: true,
  // Verified in `verifyLeaf`: an expired certificate may still be renewed.
  rejectUnauthorized: false,
  // A resumed session would skip the look-up of the certificate. Every handshake is a full one.
  secureOptions: constants.SSL_OP_NO_TICKET,
  ALPNProtocols: ['http/1.1'],
} as const;

export async function startFleetListener(options: FleetListenerOptions): Promise<FleetListener> {
  const listener = new RunningFleetListener(options, await readTrust(options));
  await listener.open();
  return listener;
}

async function readTrust({ db, ring, own, clock }: FleetListenerOptions): Promise<Trust> {
  if (own !== undefined) return await readOwnTrust(db, own, clock());
  await ensureAuthority(db, ring, clock());
  return await makeTrust(db, ring, clock());
}

class RunningFleetListener implements FleetListener {
  readonly #options: FleetListenerOptions;
  readonly #server: Server;
  readonly #peers: Peers;
  readonly #connections: EdgeConnections = createEdgeConnections();
  readonly #handshakes: Handshakes = createHandshakes(HANDSHAKES);
  readonly #facts = new WeakMap<Socket, ConnectionFacts>();
  readonly counts: FleetCounts = { clones: 0, badMessages: new Map() };
  #trust: Trust;
  #servers: readonly { close(done: () => void): unknown }[] = [];
  #port = 0;
  #looking: NodeJS.Timeout | undefined;
  #unsubscribe: (() => void) | undefined;
  readonly #runLook = createSharedRuns(() => this.#lookAgain());
  #looked: Promise<void> = Promise.resolve();
  #isFailing = false;

  constructor(options: FleetListenerOptions, trust: Trust) {
    this.#options = options;
    this.#trust = trust;
    this.#peers = createPeers(options);
    this.#server = createServer({
      ...TLS_OPTIONS,
      ...contextOf(trust),
      maxHeaderSize: MAX_FIELDS_BYTES,
      headersTimeout: HEADERS_MS,
      requestTimeout: MAX_UPLOAD_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#standBeforeTls();
    this.#standBeforeHttp();
    const handle = createRequestHandler({
      ...options,
      factsOf: (socket) => this.#facts.get(socket),
      cutEdge: (edge) => this.#connections.cutEdge(edge),
      counts: this.counts,
    });
    this.#server.on('request', (request, response) => void handle(request, response)); // never rejects
    this.#server.on('tlsClientError', (_, socket) => socket.destroy());
  }

  get port(): number {
    return this.#port;
  }

  get connections(): number {
    return this.#connections.count;
  }

  async open(): Promise<void> {
    const place = { listen: this.#options.listen, reusePort: false, allowHalfOpen: false };
    const { port, servers } = await listen(this.#server, place);
    this.#port = port;
    this.#servers = servers;
    this.#looking = setInterval(() => this.look(), LOOK_MS);
    this.#unsubscribe = this.#options.db.onPublish(() => this.look());
  }

  look(): void {
    this.#looked = this.#runLook();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#looking);
    this.#unsubscribe?.();
    this.#handshakes.cutAll();
    this.#server.closeIdleConnections();
    // `as`: `listen` returns servers.
    await closeServers(this.#servers as Parameters<typeof closeServers>[0], CLOSE_GRACE_MS, () =>
      this.#server.closeAllConnections(),
    );
    await this.#looked;
  }

  /** Bounds handshakes, and reads PROXY headers before them. */
  #standBeforeTls(): void {
    const { proxyProtocol, trustedProxies } = this.#options;
    const trusted = createAddressSet(proxyProtocol === 'required' ? trustedProxies : []);
    const secure = takeListeners(this.#server, 'connection');
    const begin = (raw: Socket, client?: string) => {
      if (this.#handshakes.begin(raw, client)) secure(raw);
      else raw.on('error', ignore).destroy();
    };
    this.#server.on('connection', (raw: Socket) => {
      if (!trusted.has(unmapAddress(raw.remoteAddress ?? ''))) return begin(raw);
      receiveProxyHeader(raw, PROXY_HEADER_MS, (outcome) => {
        if (outcome.kind === 'header') begin(raw, outcome.client);
      });
    });
  }

  /** Judges the certificate before the first request is read. */
  #standBeforeHttp(): void {
    const serve = takeListeners(this.#server, 'secureConnection');
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      const client = this.#handshakes.end(socket);
      socket.on('error', ignore);
      if (client === undefined) return void socket.destroy();
      this.#admit(socket, client).then(
        (isAdmitted) => {
          if (isAdmitted && !socket.destroyed) serve(socket);
          else socket.destroy();
        },
        (error: unknown) => {
          this.#options.log.error({ err: error }, 'cannot look up the certificate of an edge');
          socket.destroy();
        },
      );
    });
  }

  async #admit(socket: TLSSocket, client: string): Promise<boolean> {
    const certificate = socket.getPeerX509Certificate();
    if (certificate === undefined) {
      this.#facts.set(socket, { client, admission: { kind: 'anonymous' } });
      this.#connections.addStranger(socket);
      return true;
    }
    const leaf = verifyLeaf(this.#trust, certificate, socket.authorized);
    if (leaf === undefined) {
      this.#facts.set(socket, { client, admission: { kind: 'untrusted' } });
      this.#connections.addStranger(socket);
      return true;
    }
    const { changes } = this.#trust;
    const admission = await this.#peers.admit(leaf);
    this.#facts.set(socket, { client, admission });
    if (admission.kind === 'peer') this.#connections.add(socket, leaf, this.#options.clock());
    else this.#connections.addStranger(socket);
    // A revocation that was noticed meanwhile did not find this connection.
    if (changes !== this.#trust.changes) await this.#recheck([leaf]);
    return true;
  }

  /** Never rejects. */
  async #lookAgain(): Promise<void> {
    try {
      await this.#refresh();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        this.#options.log.error({ err: error }, 'the fleet listener cannot read its identity; retrying');
      this.#isFailing = true;
    }
  }

  async #refresh(): Promise<void> {
    const { changes } = await readFleet(this.#options.db.query);
    const hasChanged = changes !== this.#trust.changes;
    if (!hasChanged && this.#options.clock() < this.#trust.renewAt) return;
    const trust = await readTrust(this.#options);
    this.#server.setSecureContext({ ...TLS_OPTIONS, ...contextOf(trust) });
    this.#trust = trust;
    if (hasChanged) await this.#recheck(this.#connections.leaves());
  }

  /** Cuts the connections with these certificates that are refused now. */
  async #recheck(leaves: readonly VerifiedLeaf[]): Promise<void> {
    this.#peers.forget();
    // All at once: they share look-ups, and a thousand one after the other would take seconds.
    await settleAll(
      leaves.map(async (leaf) => {
        const { kind } = await this.#peers.admit(leaf);
        if (kind === 'refused') this.#connections.cut(leaf.serial);
      }),
    );
  }
}

function contextOf({ context: { cert, key, ca } }: Trust) {
  return { cert, key, ca: [...ca] };
}

/** Takes the listeners of an event away and returns a function that calls them. */
function takeListeners(server: Server, event: 'connection' | 'secureConnection'): (socket: Socket) => void {
  const listeners = server.listeners(event);
  server.removeAllListeners(event);
  return (socket) => {
    for (const listener of listeners) Reflect.apply(listener, server, [socket]);
  };
}

function ignore(): void {} // shows as closed
