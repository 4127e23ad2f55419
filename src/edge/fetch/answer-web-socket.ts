/**
 * Stage 8 for WebSocket: passes the handshake to an origin past the cache, with the usual choice of origins, failover
 * and guard. Edge rule 10
 */
import type { Socket } from 'node:net';
import { FieldNames } from '#http/field-names.ts';
import { withoutHopByHop } from '#http/headers.ts';
import { isHandshakeAccepted } from '#http/web-socket.ts';
import { clientNetwork } from '#lib/cidr.ts';
import type { Eventual } from '#lib/future.ts';
import { unreachable } from '#lib/unreachable.ts';
import type { EdgeContext, Visit } from '../context.ts';
import type { FetchResult } from '../origin/fetch.ts';
import { discardBody, type OriginResponse } from '../origin/origin-request.ts';
import { originHeaders } from '../origin-headers.ts';
import type { CacheMark } from '../reasons.ts';
import type { EdgeAnswer } from '../respond/edge-answer.ts';
import { errorAnswer } from '../respond/error-page.ts';
import { firstHandAnswer } from '../respond/first-hand.ts';
import { isStillAllowed } from '../stages/still-allowed.ts';
import type { Viewer } from '../viewer.ts';
import { failureAnswer } from './answers.ts';

type Asked = Pick<Visit, 'request' | 'site'>;

/**
 * An origin may refuse the upgrade: then its response is the answer, body included. Returns `undefined` if the client
 * has left.
 */
export async function answerWebSocket(
  viewer: Viewer,
  edge: EdgeContext,
  asked: Asked,
): Promise<EdgeAnswer | undefined> {
  const { request, site } = asked;
  const free = edge.webSockets.take({ client: clientNetwork(request.clientAddress), domainId: site.id });
  if (free === undefined) return errorAnswer(503, { status: 'ERROR', reason: 'tooManyWebSockets' }, edge.clock());
  let upgraded: Socket | undefined;
  try {
    const result = await ask(viewer, edge, asked);
    switch (result.kind) {
      case 'failed':
        return failureAnswer(edge, result.failure);
      case 'aborted':
        return undefined;
      case 'response': {
        upgraded = result.response.upgraded;
        if (upgraded === undefined) return firstHandAnswer(result.response, MARK, undefined);
        return answerUpgraded(edge, asked, result.response, upgraded);
      }
      default:
        return unreachable(result);
    }
  } finally {
    if (upgraded === undefined) free();
    else upgraded.once('close', free);
  }
}

const MARK: CacheMark = { status: 'BYPASS', reason: 'websocket' };

function ask(viewer: Viewer, edge: EdgeContext, { request, site }: Asked): Eventual<FetchResult> {
  const { method, target, scheme, host, clientAddress } = request;
  return edge.origins.fetch({
    site,
    method,
    target,
    scheme,
    host,
    headers: originHeaders(request),
    clientAddress,
    body: undefined,
    upgrade: 'websocket',
    onInterim: (status, headers) => viewer.sendInterim(status, headers),
    signal: viewer.signal,
  });
}

function answerUpgraded(edge: EdgeContext, asked: Asked, response: OriginResponse, origin: Socket): EdgeAnswer {
  const { request } = asked;
  if (!isHandshakeAccepted(request.headers, response.headers)) {
    discardBody(response);
    edge.metrics.countOriginFailure('originMalformed');
    return failureAnswer(edge, 'originMalformed');
  }
  const { status, reason } = response;
  const headers = [...withoutHopByHop(response.headers, NOT_IN_101), 'Upgrade', 'websocket', 'Connection', 'Upgrade'];
  return {
    status,
    reason,
    headers,
    body: { kind: 'tunnel', origin, isAllowed: () => isStillAllowed(edge, request) },
    mark: MARK,
  };
}

/** A 101 has no `Content-Length`. RFC 9110 §8.6 */
const NOT_IN_101 = new FieldNames(['content-length']);
