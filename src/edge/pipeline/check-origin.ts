/** Asks a site's first origin once, over the guarded connections of the edge, and says whether the answer would be stored. */
import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ResponseHead } from '#http/stored.ts';
import type { Clock } from '#lib/clock.ts';
import { probeHost } from '#sites/origin-address.ts';
import type { OriginCheck } from '#sites/origin-check.ts';
import type { Site } from '#sites/site.ts';
import { admitResponse } from '../fetch/admit.ts';
import { describeOrigins } from '../origin/choose.ts';
import { type Connect, ConnectError } from '../origin/connector.ts';
import { MAX_RESPONSE_HEAD_BYTES } from '../origin/response-limits.ts';
import { type CdnName, SERVICE_NAME } from '../origin-headers.ts';
import { parseRequest } from '../request.ts';
import type { KeyedRequest } from '../stages/cache-key.ts';
import { planRequest } from '../stages/plan-request.ts';

/** Limit of the answer's head. */
const ANSWER_MS = 5_000;
const NO_ORIGIN: OriginCheck = {
  origin: '',
  address: '',
  connectMs: 0,
  tls: '',
  status: 0,
  isCacheable: false,
  why: 'noOrigin',
};

/** Requests the probe's path, `/` without one, of the first primary origin. Never rejects for what an origin does. */
export async function checkOrigin(
  site: Site,
  { connect, clock, cdn }: { readonly connect: Connect; readonly clock: Clock; readonly cdn: CdnName },
): Promise<OriginCheck> {
  const scheme = site.tls === undefined ? 'http' : 'https';
  const host = probeHost(site) || site.name.replace(/^\*\./, '');
  const [candidate] = describeOrigins(site, scheme, host).primary;
  if (candidate === undefined) return NO_ORIGIN;
  const failed = { ...NO_ORIGIN, origin: candidate.key };
  const beganAt = performance.now();
  let socket: Socket;
  try {
    socket = await connect(candidate.destination);
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return { ...failed, why: error.failure };
  }
  const open = {
    ...failed,
    address: socket.remoteAddress ?? '',
    connectMs: Math.round(performance.now() - beganAt),
    tls: socket instanceof TLSSocket ? (socket.getProtocol() ?? '') : '',
  };
  const target = site.origins.probePath || '/';
  const requestAt = clock();
  const answer = await ask(socket, candidate.hostHeader, target, cdn);
  socket.destroy();
  if (typeof answer === 'string') return { ...open, why: answer };
  const whyNot = whyNotStored(site, { scheme, host, target, cdn }, answer, { requestAt, responseAt: clock() });
  return { ...open, status: answer.status, isCacheable: whyNot === undefined, why: whyNot ?? '' };
}

/** Resolves to the head of the answer, or to the reason why there is none. */
function ask(
  socket: Socket,
  host: string,
  target: string,
  cdn: CdnName,
): Promise<ResponseHead | 'originTimeout' | 'originReset'> {
  const { promise, resolve } = Promise.withResolvers<ResponseHead | 'originTimeout' | 'originReset'>();
  const limit = AbortSignal.timeout(ANSWER_MS);
  const asking = httpRequest({
    createConnection: () => socket,
    method: 'GET',
    path: target,
    // If the request returns to this service, it is recognized as a loop. RFC 8586
    headers: ['Host', host, 'User-Agent', `${SERVICE_NAME}-check`, 'CDN-Loop', cdn.id, 'Connection', 'close'],
    maxHeaderSize: MAX_RESPONSE_HEAD_BYTES,
    signal: limit,
  });
  asking.on('error', () => resolve(limit.aborted ? 'originTimeout' : 'originReset'));
  asking.on('close', () => resolve('originReset')); // no effect after a response
  asking.on('response', (response) => {
    response.on('error', () => undefined); // its body is not read
    const { statusCode: status = 0, statusMessage: reason = '', rawHeaders: headers } = response;
    resolve({ status, reason, headers });
  });
  asking.end();
  return promise;
}

/** Runs stages 1, 5 and 9 for a plain GET; `undefined` if the answer is stored. */
function whyNotStored(
  site: Site,
  {
    scheme,
    host,
    target,
    cdn,
  }: Pick<KeyedRequest, 'scheme' | 'host'> & { readonly target: string; readonly cdn: CdnName },
  response: ResponseHead,
  exchange: Parameters<typeof admitResponse>[0]['exchange'],
): string | undefined {
  const received = {
    method: 'GET',
    target,
    httpVersion: '1.1',
    headers: ['Host', host],
    isTls: scheme === 'https',
    clientAddress: '127.0.0.1',
    hasUnknownVersion: false,
    hasUnknownExpectation: false,
  } as const;
  const request = parseRequest(received, cdn.id);
  if (request.kind !== 'request') return request.kind === 'invalid' ? request.reason : 'serverOptions';
  const plan = planRequest(site, request);
  if (plan.kind !== 'cache') return plan.kind === 'bypass' ? plan.reason : 'onlyIfCached';
  const admission = admitResponse({
    request: request.facts,
    response,
    exchange,
    options: plan.options,
    absentUpTo: Number.NEGATIVE_INFINITY,
    store: { maxBodyBytes: Number.POSITIVE_INFINITY, refuses: () => undefined },
  });
  return admission.kind === 'skip' ? admission.reason : undefined;
}
