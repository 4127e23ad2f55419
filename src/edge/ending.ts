/** How an edge ends: gently, while another process has its listeners already, or within a time limit. docs/decisions/0571 */
import type { Server } from 'node:net';
import { stopListening } from '#lib/listen.ts';
import type { WebSockets } from './fetch/web-sockets.ts';
import type { LiveEdge } from './live/live.ts';
import type { EdgeOrigins } from './origin/open.ts';
import type { HttpsServer } from './transport/https.ts';
import type { HttpServer } from './transport/node-http/http-server.ts';
import type { ClientConnections } from './transport/node-http/request-turns.ts';
import type { TierServer } from './transport/node-http/tier-server.ts';
import type { Proxies } from './transport/proxies.ts';

export interface DrainLimits {
  /** Time after which an idle connection is ended. */
  readonly idleMs: number;
  /** Time for long answers, WebSockets and viewers of live streams. */
  readonly limitMs: number;
}

export interface Ending {
  /**
   * Stops listening and resolves when all connections have ended. Clients notice nothing: the next answer on each
   * connection announces its end. Calls `close` after `limitMs`.
   */
  drain(limits: DrainLimits): Promise<void>;
  /** Stops listening, lets requests finish for `graceMs`, then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

export interface EndingParts {
  readonly servers: readonly Server[];
  /** What the parts of the edge ask. */
  readonly phase: { isDraining: boolean; isClosing: boolean };
  readonly live: Pick<LiveEdge, 'close'> | undefined;
  readonly webSockets: Pick<WebSockets, 'endAll'>;
  readonly connections: Pick<ClientConnections, 'cutAll' | 'concluded'>;
  readonly proxies: Pick<Proxies, 'cutWaiting'>;
  readonly http: HttpServer;
  readonly https: Pick<HttpsServer, 'drain' | 'close' | 'cutAll'> | undefined;
  readonly tier: Pick<TierServer, 'end' | 'cutAll'> | undefined;
  readonly origins: Pick<EdgeOrigins, 'close'>;
}

/** What requests need to be written down when their connections have ended. */
const CONCLUDE_MS = 1_000;
/** Time for WebSockets between their close frames and their end. */
const CLOSE_FRAME_MS = 500;
/** Time for the last bytes of WebSockets and live streams when the limit of draining is reached. */
const DRAINED_GRACE_MS = 1_000;

export function createEnding(parts: EndingParts): Ending {
  const { servers, phase, live, webSockets, connections, proxies, http, https, tier, origins } = parts;
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> => {
    phase.isDraining = true;
    ended ??= stopListening(servers)
      .then(() => connections.concluded(CONCLUDE_MS))
      .then(origins.close);
    return ended;
  };
  const close = async (graceMs: number): Promise<void> => {
    const all = end();
    phase.isClosing = true;
    live?.close();
    proxies.cutWaiting();
    https?.close();
    const goodbye = setTimeout(() => webSockets.endAll(), Math.max(0, graceMs - CLOSE_FRAME_MS));
    const timer = setTimeout(() => {
      connections.cutAll();
      http.cutAll();
      http.server.closeAllConnections();
      https?.cutAll();
      tier?.cutAll();
    }, graceMs);
    http.server.close(); // ends what is idle
    tier?.end();
    http.close(); // may give connections to node:http
    await all;
    clearTimeout(goodbye);
    clearTimeout(timer);
  };
  const drain = async ({ idleMs, limitMs }: DrainLimits): Promise<void> => {
    const all = end();
    http.drain(idleMs);
    https?.drain();
    tier?.end();
    const timer = setTimeout(() => void close(DRAINED_GRACE_MS), limitMs); // never rejects
    await all;
    clearTimeout(timer);
    live?.close();
  };
  return { drain, close };
}
