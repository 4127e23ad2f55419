/**
 * A viewer's request from first byte to log line, top to bottom: the eleven stages of docs/edge.md. What a stage decides
 * is in its own file; here is only their order.
 */
import { unreachable } from '#lib/unreachable.ts';
import { checkAccess } from './access.ts';
import { describeRequest } from './access-log.ts';
import { answerWebSocket } from './answer-web-socket.ts';
import { answerByFetch, answerPastCache, answerShared, answerStored } from './answers.ts';
import { cacheKey } from './cache-key.ts';
import { answerChallenge } from './challenge.ts';
import { waitForLanding } from './collapse.ts';
import type { EdgeContext, Visit } from './context.ts';
import { askedUncoded, isUncoded } from './encodings.ts';
import { redirectToHttps, withTransportSecurity } from './https-only.ts';
import { canReadAlong, lookUp } from './look-up.ts';
import { findNamedSite, type NamedSite } from './named-site.ts';
import { isPart } from './parts.ts';
import { planRequest } from './plan.ts';
import { isReadable, openStored } from './readable.ts';
import { refreshWhole } from './refresh.ts';
import { parseRequest } from './request.ts';
import type { EdgeAnswer } from './respond/answer.ts';
import { isUnreadable } from './respond/compress.ts';
import { errorAnswer } from './respond/error-page.ts';
import { finishAnswer } from './respond/finish.ts';
import { refusalAnswer } from './respond/refusal.ts';
import { sendAnswer } from './respond/send.ts';
import { abandonBody, leaveToStore } from './respond/stream.ts';
import { answerOptions, isLastHop, withHopTaken } from './server-options.ts';
import { answerSliced, isSliceable } from './slices/answer.ts';
import { isMisdirected } from './tls/secured.ts';
import type { CutStatus, Viewer } from './viewer.ts';

/** Resolves when the answer is out, or the client is gone, and the line is written. Never rejects. */
export async function handle(viewer: Viewer, edge: EdgeContext): Promise<void> {
  const startedAt = edge.clock();
  const named: NamedSite = { host: undefined, domainId: 0 };
  let answer: EdgeAnswer | undefined;
  try {
    answer = await answerRequest(viewer, edge, named);
    if (answer !== undefined) answer = await sendAnswer(viewer, answer, edge, named.domainId); // 10
  } catch (error) {
    edge.log.error({ err: error, host: named.host, target: viewer.received.target }, 'request failed');
    if (answer !== undefined) abandonBody(answer.body);
    answer = errorAnswer(500, { status: 'ERROR', reason: 'internal' }, edge.clock(), true);
    if (viewer.isBegun) viewer.cut(500);
    else await sendAnswer(viewer, answer, edge, named.domainId);
  }
  if (viewer.refusal !== undefined)
    answer = errorAnswer(viewer.refusal.status, { status: 'ERROR', reason: viewer.refusal.reason }, edge.clock());
  conclude(viewer, edge, named, answer, { startedAt }); // 11
}

/** Of a request whose turn did not come: its client has left, or the answer before it was cut, as `cutStatus` says. */
export function concludeUnserved(viewer: Viewer, edge: EdgeContext, cutStatus: CutStatus | undefined): void {
  const startedAt = edge.clock();
  conclude(viewer, edge, { host: undefined, domainId: 0 }, undefined, { startedAt, cutStatus });
}

/** `named`: the site that stage 2 has found, or none. */
function conclude(
  viewer: Viewer,
  edge: EdgeContext,
  named: NamedSite,
  answer: EdgeAnswer | undefined,
  {
    startedAt,
    cutStatus = viewer.cutStatus,
  }: { readonly startedAt: number; readonly cutStatus?: CutStatus | undefined },
): void {
  const { host, domainId } =
    (named.domainId === 0 ? findNamedSite(edge.sites, viewer.received.headers) : undefined) ?? named;
  const record = describeRequest(viewer, host, answer, { startedAt, endedAt: edge.clock(), cutStatus });
  edge.metrics.countRequest(answer?.mark, record.status, record.responseBytes);
  edge.writeLog(domainId, record);
}

/** `undefined`: there is nobody to answer any more. */
async function answerRequest(viewer: Viewer, edge: EdgeContext, named: NamedSite): Promise<EdgeAnswer | undefined> {
  const now = edge.clock();

  const request = parseRequest(viewer.received); // 1
  if (request.kind === 'invalid') {
    const { status, reason } = request;
    return errorAnswer(status, { status: 'ERROR', reason }, now, status === 400 || status === 501 || status === 505);
  }

  if (request.kind === 'server') return answerOptions(now);

  const site = edge.sites.find(request.host); // 2
  if (site === undefined) return errorAnswer(403, { status: 'DENIED', reason: 'unknownHost' }, now);
  named.host = request.host;
  named.domainId = site.id;
  const made = await answerForSite(viewer, edge, { request, site });
  if (made === undefined) return undefined;
  const answer = withTransportSecurity(site, request, made);
  edge.shortcuts.learn(viewer.received, request, site, answer);
  return answer;
}

async function answerForSite(
  viewer: Viewer,
  edge: EdgeContext,
  { request, site }: Pick<Visit, 'request' | 'site'>,
): Promise<EdgeAnswer | undefined> {
  const now = edge.clock();
  const { secured } = viewer.received;
  if (secured !== undefined && isMisdirected(site, request.host, secured))
    return errorAnswer(421, { status: 'ERROR', reason: 'misdirected' }, now); // RFC 9110 §15.5.20

  const challenge = answerChallenge(edge.challenges, request, now);
  if (challenge !== undefined) return challenge;

  const access = checkAccess(site, request); // 3
  if (access.kind === 'deny') return refusalAnswer(site, access.reason, now);

  const redirect = redirectToHttps(site, request, edge.ports, now);
  if (redirect !== undefined) return redirect;

  if (isLastHop(request)) return answerOptions(now);

  const key = cacheKey(site, request); // 4
  const plan = planRequest(site, request); // 5
  const { options } = plan;
  const asked = { request, site, key, options };
  if (plan.kind === 'gatewayTimeout') return errorAnswer(504, { status: 'ERROR', reason: 'onlyIfCached' }, now);
  if (plan.kind === 'bypass') {
    if (plan.reason === 'websocket') return answerWebSocket(viewer, edge, { request, site }); // 8
    const visit = { ...asked, request: withHopTaken(request), absentUpTo: NEVER };
    const answer = await answerPastCache(viewer, edge, visit, plan.reason); // 8
    return answer && finishAnswer(viewer, edge, asked, answer);
  }

  const answer = await answerCacheable(viewer, edge, { ...asked, request: askedUncoded(site, request) });
  if (answer === undefined || !isUncoded(site) || !isUnreadable(request, answer)) {
    return answer && finishAnswer(viewer, edge, asked, answer);
  }
  leaveToStore(answer.body, edge);
  const other = await answerPastCache(viewer, edge, { ...asked, absentUpTo: NEVER }, 'contentCoding');
  return other && finishAnswer(viewer, edge, asked, other);
}

/** From the store, or by a fetch that others wait for; who waited for another's fetch looks again. */
async function answerCacheable(
  viewer: Viewer,
  edge: EdgeContext,
  asked: Omit<Visit, 'absentUpTo'>,
): Promise<EdgeAnswer | undefined> {
  for (let waits = 0; ; waits++) {
    const looked = await lookUp(edge, asked); // 6, 7
    const { visit, decision, others, now } = looked;
    if (isSliceable(edge, looked)) {
      const sliced = await answerSliced(viewer, edge, looked, waits); // 6 to 9
      if (sliced.kind === 'again') continue;
      if (sliced.kind === 'answer') return sliced.answer;
    }
    switch (decision.kind) {
      case 'hit': {
        const opened = await openStored(decision.stored);
        if (opened === undefined) continue;
        return { ...answerStored(visit, decision.stored, 'HIT', now), isFromDisk: opened.isFromDisk };
      }
      case 'stale':
        if (!(await isReadable(decision.stored.body))) continue;
        if (decision.shouldRevalidate) {
          edge.refreshes.start(edge, visit, (plain, signal) => refreshWhole(edge, plain, decision.stored, signal));
        }
        return answerStored(visit, decision.stored, 'STALE', now);
      case 'gatewayTimeout':
        return errorAnswer(504, { status: 'ERROR', reason: 'onlyIfCached' }, now);
      case 'bypass': // stage 5 has asked the same question
        return answerPastCache(viewer, edge, visit, decision.reason);
      case 'revalidate':
      case 'miss':
      case 'complete': {
        const stored = decision.kind === 'revalidate' ? decision.stored : undefined;
        const prefix = decision.kind === 'complete' && isPart(decision.stored) ? decision.stored : undefined;
        const place = edge.flights.enter(visit.key, visit.request, {
          waits,
          now,
          absentUpTo: visit.absentUpTo,
          fits: (shared) => canReadAlong(visit, shared, now),
        });
        if (place.kind === 'join') return answerShared(edge, visit, place.shared, now);
        if (place.kind === 'wait' && (await waitForLanding(place.ready, viewer.signal))) continue;
        return answerByFetch(viewer, edge, visit, { place, stored, others, prefix }); // 8, 9
      }
      default:
        return unreachable(decision);
    }
  }
}

/** Of a request that looks nothing up. */
const NEVER = Number.NEGATIVE_INFINITY;
