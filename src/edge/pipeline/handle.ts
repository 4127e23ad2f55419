/**
 * Handles a viewer's request from its first byte to its log line, in the order of the stages in
 * docs/development/edge.md. Each stage decides in its own file; this one holds their order.
 */
import { steadyClock } from '#lib/clock.ts';
import { after, type Eventual, recover } from '#lib/future.ts';
import type { EdgeContext, Visit } from '../context.ts';
import { answerCacheable } from '../fetch/answer-cacheable.ts';
import { answerWebSocket } from '../fetch/answer-web-socket.ts';
import { answerPastCache } from '../fetch/answers.ts';
import { answerLive } from '../live/answer-live.ts';
import { lineSince } from '../live/session.ts';
import { reasonOf } from '../reasons.ts';
import { parseRequest } from '../request.ts';
import { isUnreadable } from '../respond/compress.ts';
import type { EdgeAnswer } from '../respond/edge-answer.ts';
import { errorAnswer } from '../respond/error-page.ts';
import { finishAnswer } from '../respond/finish.ts';
import { refusalAnswer } from '../respond/refusal.ts';
import { sendAnswer } from '../respond/send.ts';
import { withResponseHeaders } from '../respond/site-headers.ts';
import { abandonBody, leaveToStore } from '../respond/stream.ts';
import { isMisdirected } from '../secured.ts';
import { checkAccess } from '../stages/access.ts';
import { describeRequest } from '../stages/access-log.ts';
import { cacheKey } from '../stages/cache-key.ts';
import { answerChallenge } from '../stages/challenge.ts';
import { askedUncoded, isUncoded } from '../stages/encodings.ts';
import { answerHealth } from '../stages/health.ts';
import { redirectToHttps, withTransportSecurity } from '../stages/https-only.ts';
import { findNamedSite, hasKeys, type NamedSite } from '../stages/named-site.ts';
import { planRequest } from '../stages/plan-request.ts';
import { checkRate } from '../stages/rate-limit.ts';
import { redirectByRule } from '../stages/redirect-rules.ts';
import { answerOptions, isLastHop, withHopTaken } from '../stages/server-options.ts';
import { checkSignedUrl } from '../stages/signed-url.ts';
import { Holds } from '../store/holds.ts';
import type { CutStatus, Viewer } from '../viewer.ts';
import { answerTier } from './answer-tier.ts';

/**
 * Answers and logs a request. Done when the answer is sent, or the client has left, and the log line is written;
 * synchronously if nothing had to be waited for. Never throws or rejects.
 */
export function handle(viewer: Viewer, edge: EdgeContext): Eventual<void> {
  const startedAt = edge.clock();
  const begun = steadyClock();
  const named: NamedSite = { host: undefined, domainId: 0, hasKeys: false };
  /** The answer in flight, dropped if sending it fails. */
  let made: EdgeAnswer | undefined;
  let closeMeter = () => 0;
  const holds = new Holds();
  const answered = recover<EdgeAnswer | undefined>(
    () =>
      after(answerRequest(viewer, edge, { named, holds }), (answer) => {
        made = answer;
        if (answer === undefined) return undefined;
        if (isLasting(answer)) closeMeter = edge.metrics.openMeter(() => viewer.sentBytes);
        return sendAnswer(viewer, answer, edge, named.domainId); // 10
      }),
    (error) => {
      edge.log.error({ err: error, host: named.host, target: viewer.received.target }, 'request failed');
      if (made !== undefined) abandonBody(made.body);
      return answerFault(viewer, edge, named.domainId);
    },
  );
  return after(answered, (answer) => {
    holds.release();
    const { refusal } = viewer;
    const last =
      refusal === undefined
        ? answer
        : errorAnswer(refusal.status, { status: 'ERROR', reason: refusal.reason }, edge.clock());
    countFirstByte(viewer, edge, last, begun);
    conclude(viewer, edge, named, last, { startedAt, countedBytes: closeMeter() }); // 11
  });
}

/** `begun`: when the request began, by the steady clock. Probes of the health page are not counted. */
function countFirstByte(
  { begunAt, received }: Viewer,
  { metrics }: EdgeContext,
  answer: EdgeAnswer | undefined,
  begun: number,
) {
  if (begunAt === undefined || answer === undefined || reasonOf(answer.mark) === 'health') return;
  if (received.tier !== undefined) return;
  metrics.countFirstByte(answer.mark, begunAt - begun);
}

/** Answers a request after a fault of ours: with 500, or by cutting an answer that has begun. */
function answerFault(viewer: Viewer, edge: EdgeContext, domainId: number): Eventual<EdgeAnswer> {
  const answer = errorAnswer(500, { status: 'ERROR', reason: 'internal' }, edge.clock(), true);
  if (!viewer.isBegun) return sendAnswer(viewer, answer, edge, domainId);
  viewer.cut(500);
  return answer;
}

/**
 * Whether the answer lasts as long as its viewer likes, so that its bytes are counted as they are sent and not at the
 * end.
 */
function isLasting({ body }: EdgeAnswer): boolean {
  return body.kind === 'session' || body.kind === 'tunnel';
}

/** Logs a request that was never served: its client has left, or the answer before it was cut, as `cutStatus` says. */
export function concludeUnserved(viewer: Viewer, edge: EdgeContext, cutStatus: CutStatus | undefined): void {
  const startedAt = edge.clock();
  conclude(viewer, edge, { host: undefined, domainId: 0, hasKeys: false }, undefined, { startedAt, cutStatus });
}

/** Writes the log line and counts the request. `named` is the site that stage 2 has found, if any. */
function conclude(
  viewer: Viewer,
  edge: EdgeContext,
  named: NamedSite,
  answer: EdgeAnswer | undefined,
  {
    startedAt,
    cutStatus = viewer.cutStatus,
    countedBytes = 0,
  }: { readonly startedAt: number; readonly cutStatus?: CutStatus | undefined; readonly countedBytes?: number },
): void {
  if (viewer.received.tier !== undefined) return; // the edge that asked has a line for its viewer
  const found = (named.domainId === 0 ? findNamedSite(edge.sites, viewer.received.headers) : undefined) ?? named;
  const whole = describeRequest(viewer, found, answer, { startedAt, endedAt: edge.clock(), cutStatus });
  const body = answer?.body;
  const record = body?.kind === 'session' ? lineSince(body.session.ledger, whole, viewer.statusSent) : whole;
  edge.metrics.countRequest(answer?.mark, record.status, whole.responseBytes - countedBytes);
  if (answer !== undefined && reasonOf(answer.mark) === 'health') return; // a probe asks every few seconds, for ever
  edge.writeLog(found.domainId, record);
}

/** Runs stages 1 to 9. Returns `undefined` if the client has left. */
function answerRequest(
  viewer: Viewer,
  edge: EdgeContext,
  { named, holds }: { readonly named: NamedSite; readonly holds: Holds },
): Eventual<EdgeAnswer | undefined> {
  const now = edge.clock();

  const request = parseRequest(viewer.received, edge.cdn.id); // 1
  const { tier } = viewer.received;
  const health = tier === undefined ? answerHealth(edge.health, viewer.received, request, now) : undefined;
  if (health !== undefined) return health;

  if (request.kind === 'invalid') {
    const { status, reason } = request;
    return errorAnswer(status, { status: 'ERROR', reason }, now, status === 400 || status === 501 || status === 505);
  }

  if (request.kind === 'server') return answerOptions(now);
  if (tier !== undefined) {
    named.host = request.host;
    named.domainId = tier.siteId;
    return answerTier(viewer, edge, { request, tier, holds });
  }

  const site = edge.sites.find(request.host); // 2
  if (site === undefined) return errorAnswer(403, { status: 'DENIED', reason: 'unknownHost' }, now);
  named.host = request.host;
  named.domainId = site.id;
  named.hasKeys = hasKeys(site);
  return after(answerForSite(viewer, edge, { request, site, holds }), (made) => {
    if (made === undefined) return undefined;
    return orAbandon(made, () => {
      const answer = withResponseHeaders(site, withTransportSecurity(site, request, made));
      edge.shortcuts.learn(viewer.received, request, site, answer);
      return answer;
    });
  });
}

function answerForSite(
  viewer: Viewer,
  edge: EdgeContext,
  { request, site, holds }: Pick<Visit, 'request' | 'site' | 'holds'>,
): Eventual<EdgeAnswer | undefined> {
  const now = edge.clock();
  const { secured } = viewer.received;
  if (secured !== undefined && isMisdirected(site, request.host, secured))
    return errorAnswer(421, { status: 'ERROR', reason: 'misdirected' }, now); // RFC 9110 §15.5.20

  const challenge = answerChallenge(edge.challenges, request, now);
  if (challenge !== undefined) return challenge;

  const access = checkAccess(site, request); // 3
  if (access.kind === 'deny') return refusalAnswer(site, access.reason, now);

  const limited = checkRate(edge, site, request, now);
  if (limited !== undefined) return limited;

  const redirect = redirectToHttps(site, request, edge.ports, now);
  if (redirect !== undefined) return redirect;

  if (isLastHop(request)) return answerOptions(now);

  if (site.type !== 'live' || edge.live === undefined) return answerPlanned(viewer, edge, { request, site, holds });
  return answerLive(viewer, edge, edge.live, { request, site }).then((live) => {
    return live.kind === 'answer' ? live.answer : answerPlanned(viewer, edge, { request, site, holds });
  });
}

function answerPlanned(
  viewer: Viewer,
  edge: EdgeContext,
  { request: asReceived, site, holds }: Pick<Visit, 'request' | 'site' | 'holds'>,
): Eventual<EdgeAnswer | undefined> {
  const signature = checkSignedUrl(site, asReceived, edge.clock()); // 3b
  if (signature.kind === 'deny') return refusalAnswer(site, signature.reason, edge.clock());
  const { request } = signature;
  const redirect = redirectByRule(site, request, edge.clock());
  if (redirect !== undefined) return redirect;
  const key = cacheKey(site, request); // 4
  const plan = planRequest(site, request); // 5
  const { options } = plan;
  const asked = { request, site, key, options, holds };
  if (plan.kind === 'gatewayTimeout')
    return errorAnswer(504, { status: 'ERROR', reason: 'onlyIfCached' }, edge.clock());
  if (plan.kind === 'bypass') {
    if (plan.reason === 'websocket') return answerWebSocket(viewer, edge, { request, site }); // 8
    const visit = { ...asked, request: withHopTaken(request), absentUpTo: NEVER };
    return finish(viewer, edge, asked, answerPastCache(viewer, edge, visit, plan.reason)); // 8
  }

  const uncoded = { ...asked, request: askedUncoded(site, request) };
  // 6, 7, 8, 9
  return after(answerCacheable(viewer, edge, uncoded), (answer) => {
    if (answer === undefined || !isUncoded(site) || !isUnreadable(request, answer)) {
      return finish(viewer, edge, asked, answer);
    }
    leaveToStore(answer.body, edge);
    const other = answerPastCache(viewer, edge, { ...asked, absentUpTo: NEVER }, 'contentCoding');
    return finish(viewer, edge, asked, other);
  });
}

function finish(
  viewer: Viewer,
  edge: EdgeContext,
  asked: Omit<Visit, 'absentUpTo'>,
  made: Eventual<EdgeAnswer | undefined>,
): Eventual<EdgeAnswer | undefined> {
  return after(made, (answer) => answer && orAbandon(answer, () => finishAnswer(viewer, edge, asked, answer)));
}

/**
 * Abandons the answer's body if `work` fails: other requests may wait for its flight, and no reader would take its
 * bytes.
 */
function orAbandon(answer: EdgeAnswer, work: () => Eventual<EdgeAnswer>): Eventual<EdgeAnswer> {
  return recover(work, (error) => {
    abandonBody(answer.body);
    throw error;
  });
}

/** `absentUpTo` of a request that looks nothing up. */
const NEVER = Number.NEGATIVE_INFINITY;
