/**
 * Answers requests of edges by path: refuses what no edge sends, agrees on a version of the feed, and turns errors into
 * answers. The caller's identity is decided before, by the listener.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '#lib/logger.ts';
import type { Peer } from '../publish/peer.ts';
import { ForeignEdgeError, MessageError } from '../wire/messages.ts';
import {
  chooseVersion,
  FEED_HEADER,
  FEED_VERSIONS,
  FLEET_VERSIONS,
  formatVersions,
  parseVersions,
} from '../wire/versions.ts';
import { CrowdedError } from './crowded-error.ts';

/** Time after which an edge sends again what there was no room for. */
const RETRY_SECONDS = 5;

/** The sender of a request. */
export interface FeedCaller {
  /** Absent for the unix socket of this machine, whose requests name their edge themselves. */
  readonly peer: Peer | undefined;
  /** Version of the feed that both speak. */
  readonly version: number;
}

export type FeedHandler = (request: IncomingMessage, response: ServerResponse, caller: FeedCaller) => Promise<void>;

export type Routes = Readonly<Record<string, { readonly method: string; readonly handle: FeedHandler }>>;

export type RequestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  peer: Peer | undefined,
) => Promise<void>;

/** Returns a handler that never rejects. */
export function createFeedHandler(routes: Routes, log: Logger): RequestHandler {
  return async (request, response, peer) => {
    try {
      await answer(routes, request, response, peer);
    } catch (error) {
      if (error instanceof MessageError) return refuseRequest(response, 400, error.message);
      if (error instanceof ForeignEdgeError) return refuseRequest(response, 403, error.message);
      if (error instanceof CrowdedError) {
        response.setHeader('retry-after', RETRY_SECONDS);
        return refuseRequest(response, 503, error.message);
      }
      if (!response.destroyed) log.error({ err: error, path: request.url, edge: peer?.edge }, 'feed request failed');
      if (response.headersSent) response.destroy();
      else refuseRequest(response, 503, 'try again later');
    }
  };
}

/** Follows the requests of a handler; `settled` resolves when all of them have been answered or given up. */
export function trackRequests(handle: RequestHandler): {
  readonly handle: RequestHandler;
  settled(): Promise<void>;
} {
  const inFlight = new Set<Promise<void>>();
  return {
    handle: (...request) => {
      const answering = handle(...request).finally(() => inFlight.delete(answering));
      inFlight.add(answering);
      return answering;
    },
    settled: async () => void (await Promise.all(inFlight)),
  };
}

async function answer(
  routes: Routes,
  request: IncomingMessage,
  response: ServerResponse,
  peer: Peer | undefined,
): Promise<void> {
  if (hasPassedProxy(request)) return refuseRequest(response, 400, 'the feed cannot be reached through a proxy');
  const header = request.headers[FEED_HEADER];
  const versions = parseVersions(typeof header === 'object' ? header.join() : header);
  if (versions === undefined)
    return refuseRequest(response, 400, `${FEED_HEADER}: expected a version or a range, as in 1-2`);
  const ours = peer === undefined ? FEED_VERSIONS : FLEET_VERSIONS;
  const version = chooseVersion(versions, ours);
  response.setHeader(FEED_HEADER, version ?? formatVersions(ours));
  if (version === undefined) {
    const own = formatVersions(ours);
    return refuseRequest(response, 426, `${FEED_HEADER}: this control speaks ${own}, not ${formatVersions(versions)}`);
  }
  const path = request.url?.split('?')[0] ?? '';
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (route === undefined) return refuseRequest(response, 404, 'no such path');
  if (request.method !== route.method) {
    response.setHeader('allow', route.method);
    return refuseRequest(response, 405, `expected ${route.method}`);
  }
  await route.handle(request, response, { peer, version });
}

/** Fields that a proxy adds. The certificate is the identity, so a proxy in between could only take it away. */
export function hasPassedProxy({ headers }: IncomingMessage): boolean {
  return Object.keys(headers).some((name) => name === 'forwarded' || name === 'via' || name.startsWith('x-forwarded-'));
}

/** Refuses a request and ends its connection, because the rest of its body is not read. */
export function refuseRequest(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${why}\n`);
}

export function queryOf(request: IncomingMessage): string {
  return request.url?.split('?')[1] ?? '';
}
