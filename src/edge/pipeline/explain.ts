/**
 * Explains what the edge would do with a request: runs stages 1 to 7 without asking an origin. The origin's answer is
 * unknown, so the explanation of a miss or a validation ends there.
 */
import { freshUntil } from '#http/freshness.ts';
import { firstValue } from '#http/headers.ts';
import { isWebSocketHandshake } from '#http/web-socket.ts';
import { unreachable } from '#lib/unreachable.ts';
import type { SiteLimit } from '#sites/rate-limits.ts';
import type { Site } from '#sites/site.ts';
import type { SiteSpec } from '#sites/spec.ts';
import { certificatesOf } from '#sites/tls.ts';
import type { EdgeContext, Visit } from '../context.ts';
import { canStandIn } from '../fetch/answers.ts';
import { canBegin, isSliceable } from '../fetch/slices/answer-sliced.ts';
import { indexKey } from '../fetch/slices/layout.ts';
import { describeObject } from '../fetch/slices/object.ts';
import { explainLive } from '../live/explain-live.ts';
import type { EdgeOrigins, OriginState } from '../origin/open.ts';
import { type CacheMark, failureStatus, formatMark, type NoHandshake, type OriginFailure } from '../reasons.ts';
import { type EdgeRequest, parseRequest, type ReceivedRequest } from '../request.ts';
import { isUnreadable } from '../respond/compress.ts';
import { storedAnswer } from '../respond/stored.ts';
import { checkAccess } from '../stages/access.ts';
import { cacheKey } from '../stages/cache-key.ts';
import { answerChallenge } from '../stages/challenge.ts';
import type { EdgeDecision } from '../stages/decide.ts';
import { askedUncoded, isUncoded } from '../stages/encodings.ts';
import { answerHealth } from '../stages/health.ts';
import { redirectToHttps } from '../stages/https-only.ts';
import { lookUp } from '../stages/look-up.ts';
import { type Plan, planRequest, policyTarget } from '../stages/plan-request.ts';
import { limitsOf } from '../stages/rate-limit.ts';
import { redirectByRule } from '../stages/redirect-rules.ts';
import { isLastHop } from '../stages/server-options.ts';
import { checkSignedUrl, type SignedUrl } from '../stages/signed-url.ts';
import { Holds } from '../store/holds.ts';
import { describeParents } from './explain-parents.ts';

interface Explanation {
  /** Findings of the stages, in order. */
  readonly steps: readonly Step[];
  /**
   * Value of `X-Cache`, as far as it is known without an origin. Empty if the TLS handshake fails, since there is no
   * answer.
   */
  readonly xCache: string;
  /** State of the domain's origins as this edge knows it; none without a domain. */
  readonly origins: readonly OriginState[];
  /** Whether the settings were those of the question. */
  readonly isTrial: boolean;
  /** Whether an origin would be asked: then a miss may turn out not to be stored, and a validation to be a miss. */
  readonly asksOrigin: boolean;
}

/** Findings of the stages alone. */
type Found = Omit<Explanation, 'origins' | 'isTrial'>;

interface Step {
  readonly stage:
    | 'request'
    | 'handshake'
    | 'site'
    | 'access'
    | 'limit'
    | 'signature'
    | 'redirect'
    | 'live'
    | 'key'
    | 'plan'
    | 'stored'
    | 'decision'
    | 'parents'
    | 'origins'
    | 'answer';
  readonly found: string;
}

/** The request to be explained. */
export interface Question {
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /** The URL's host, with its port if it has one. */
  readonly host: string;
  readonly target: string;
  /** Flat list of names and values, without `Host`. */
  readonly headers: readonly string[];
  readonly clientAddress: string;
  /**
   * Id of the only domain that is explained. Absent: any, and the page of this edge's health too, as for the machine's
   * own command.
   */
  readonly onlyDomain?: number;
  /** Settings to take in place of those that the domain has. Absent: what viewers get. */
  readonly spec?: SiteSpec;
}

export type Explain = (question: Question) => Promise<Explanation>;

/** TLS of this edge, and the state of origins. */
interface Surroundings {
  whyNoHandshake(host: string): NoHandshake | 'noListener' | undefined;
  /** Whether trusted proxies may terminate TLS before this edge. */
  readonly trustsProxies: boolean;
  readonly statesOf: EdgeOrigins['statesOf'];
}

export function createExplain(edge: EdgeContext, around: Surroundings): Explain {
  return async (question) => {
    const received = toReceived(question);
    const request = parseRequest(received, edge.cdn.id); // 1
    const present = request.kind === 'request' ? edge.sites.find(request.host) : undefined; // 2
    const { onlyDomain, spec } = question;
    const site = present && spec?.id === present.id ? compileTrial(edge, spec, present) : present;
    if (onlyDomain !== undefined && site !== undefined && site.id !== onlyDomain)
      throw new Error('this edge serves that host for another domain');
    const hasHealth = onlyDomain === undefined;
    const explained = await explain(edge, around, { received, request, site, hasHealth });
    const origins =
      site === undefined || request.kind !== 'request' ? [] : await around.statesOf(site, request.scheme, request.host);
    return { ...explained, origins, isTrial: site !== present };
  };
}

function compileTrial({ sites }: EdgeContext, spec: SiteSpec, present: Site): Site {
  const site = sites.compileLike(spec, present);
  if (site === undefined) throw new Error('these settings do not compile here');
  return site;
}

interface Notes {
  note(stage: Step['stage'], found: string): void;
  /** Ends the explanation without an origin. */
  end(mark: CacheMark): Found;
}

interface Asked {
  readonly received: ReceivedRequest;
  readonly request: ReturnType<typeof parseRequest>;
  readonly site: Site | undefined;
  /** Whether the page of this edge's health is explained. */
  readonly hasHealth: boolean;
}

async function explain(
  edge: EdgeContext,
  around: Surroundings,
  { received, request, site, hasHealth }: Asked,
): Promise<Found> {
  const steps: Step[] = [];
  const note = (stage: Step['stage'], found: string) => void steps.push({ stage, found });
  const end = (mark: CacheMark): Found => ({ steps, xCache: formatMark(mark), asksOrigin: false });

  const health = hasHealth ? answerHealth(edge.health, received, request, edge.clock()) : undefined;
  if (health !== undefined) {
    note('request', `asks for the health of this edge: ${health.status}`);
    return end(health.mark);
  }
  if (request.kind === 'invalid') {
    note('request', `answered ${request.status}: ${request.reason}`);
    return end({ status: 'ERROR', reason: request.reason });
  }
  if (request.kind === 'server') {
    note('request', 'OPTIONS for the server as a whole');
    return end({ status: 'OWN', reason: 'serverOptions' });
  }
  note(
    'request',
    `${request.method} ${request.scheme}://${request.host}${request.target} from ${request.clientAddress}`,
  );

  if (request.scheme === 'https') {
    const problem = around.whyNoHandshake(request.host);
    note('handshake', describeHandshake(problem, site, around.trustsProxies));
    if (problem !== undefined && !around.trustsProxies) return { steps, xCache: '', asksOrigin: false };
  }
  note('site', site === undefined ? 'no domain has this host' : describeSite(site));
  if (site === undefined) return end({ status: 'DENIED', reason: 'unknownHost' });
  const notes = { note, end };
  return explainAccess(edge, site, request, notes) ?? explainCache(edge, around, { site, request }, notes);
}

/** Explains stage 3 and live streams. Returns `undefined` if later stages answer. */
function explainAccess(edge: EdgeContext, site: Site, request: EdgeRequest, { note, end }: Notes): Found | undefined {
  const challenge = answerChallenge(edge.challenges, request, edge.clock());
  if (challenge !== undefined) {
    note('access', 'not checked: a challenge of a certificate authority');
    return end(challenge.mark);
  }
  const access = checkAccess(site, request); // 3
  note('access', access.kind === 'deny' ? `refused: ${access.reason}` : 'allowed');
  if (access.kind === 'deny') return end({ status: 'DENIED', reason: access.reason });
  for (const limit of limitsOf(site, request)) {
    const waitMs = edge.rates.waitMs(limit, edge.rates.clientOf(request.clientAddress), edge.clock());
    note('limit', describeLimit(limit, waitMs));
    if (waitMs > 0) return end({ status: 'DENIED', reason: 'rateLimit' });
  }
  const redirect = redirectToHttps(site, request, edge.ports, edge.clock());
  if (redirect !== undefined) {
    note('access', `redirected to ${firstValue(redirect.headers, 'location')}`);
    return end(redirect.mark);
  }
  if (isLastHop(request)) {
    note('access', 'not forwarded: Max-Forwards is 0');
    return end({ status: 'OWN', reason: 'serverOptions' });
  }
  const live = explainLive(edge, site, request);
  if (live === undefined) return undefined;
  note('live', live.found);
  return live.mark && end(live.mark);
}

async function explainCache(
  edge: EdgeContext,
  around: Surroundings,
  { site, request: asReceived }: Pick<Visit, 'site' | 'request'>,
  { note, end }: Notes,
): Promise<Found> {
  const signature = checkSignedUrl(site, asReceived, edge.clock());
  if (site.signing !== undefined) note('signature', describeSignature(signature, asReceived));
  if (signature.kind === 'deny') return end({ status: 'DENIED', reason: signature.reason });
  const { request } = signature;
  const redirect = redirectByRule(site, request, edge.clock());
  if (redirect !== undefined) {
    note('redirect', `${redirect.status} ${firstValue(redirect.headers, 'location')}`);
    return end(redirect.mark);
  }
  const key = cacheKey(site, request); // 4
  note('key', key);
  const plan = planRequest(site, request); // 5
  note('plan', `${describePlan(plan)}; ${describePolicy(site, request)}`);
  /** `status` is that of the answer if no origin is available and no stored response stands in. */
  const ask = async (mark: CacheMark, status?: number, standsIn?: () => Promise<boolean>): Promise<Found> => {
    const parents = mark.status === 'BYPASS' ? [] : edge.origins.parentsOf(site, key);
    if (parents.length > 0) note('parents', describeParents(parents));
    if (parents.some(({ isOut }) => !isOut)) return { ...end(mark), asksOrigin: true };
    const states = await around.statesOf(site, request.scheme, request.host);
    note('origins', describeOrigins(states));
    const failure = foreseenFailure(states);
    if (failure === undefined) return { ...end(mark), asksOrigin: true };
    if (await standsIn?.()) {
      note('answer', 'the stored response, stale: no origin is available');
      return end({ status: 'STALE' });
    }
    note('answer', `${status ?? failureStatus(failure)}: no origin is available`);
    return end({ status: 'ERROR', reason: failure });
  };
  if (plan.kind === 'gatewayTimeout') return end({ status: 'ERROR', reason: 'onlyIfCached' });
  if (plan.kind === 'bypass') return ask({ status: 'BYPASS', reason: plan.reason });

  using holds = new Holds();
  const { options } = plan;
  const found = await lookUpAll(edge, { request: askedUncoded(site, request), site, key, options, holds }); // 6, 7
  note('stored', found.stored);
  if (isUncoded(site) && isCodedOtherwise(request, found, edge.clock())) {
    note('decision', 'bypasses the cache: contentCoding');
    return ask({ status: 'BYPASS', reason: 'contentCoding' });
  }
  const { decision, visit } = found;
  note('decision', decision.kind);
  switch (decision.kind) {
    case 'hit':
      return end({ status: 'HIT' });
    case 'stale':
      return end({ status: 'STALE' });
    case 'revalidate':
      return await ask({ status: 'REVALIDATED' }, 504, () => canStandIn(edge, visit, decision.stored, 'unreachable'));
    case 'complete':
    case 'miss':
      return ask({ status: 'MISS' });
    case 'bypass':
      return ask({ status: 'BYPASS', reason: decision.reason });
    case 'gatewayTimeout':
      return end({ status: 'ERROR', reason: 'onlyIfCached' });
    default:
      return unreachable(decision);
  }
}

/** Returns why no origin can answer; `undefined` if one may. */
function foreseenFailure(states: readonly OriginState[]): OriginFailure | undefined {
  let last: OriginFailure = 'noOrigin';
  for (const { state } of states) {
    if (state === 'usable' || state === 'down') return undefined; // origins that are down are tried last
    last = state;
  }
  return last;
}

/** Returns the request as the server would have read it from a connection. */
function toReceived({ method, scheme, host, target, headers, clientAddress }: Question): ReceivedRequest {
  const all = ['Host', host, ...headers];
  const expectation = firstValue(all, 'expect')?.toLowerCase() ?? '100-continue';
  return {
    method,
    target,
    httpVersion: '1.1',
    headers: all,
    isTls: scheme === 'https',
    clientAddress,
    hasUnknownVersion: false,
    hasUnknownExpectation: expectation !== '100-continue',
    upgrade: isWebSocketHandshake({ method, httpVersion: '1.1', headers: all }) ? 'websocket' : undefined,
  };
}

function describeOrigins(states: readonly OriginState[]): string {
  if (states.length === 0) return 'none';
  return states.map(({ origin, state }) => origin + ORIGIN_STATES[state]).join(', ');
}

const ORIGIN_STATES = {
  usable: '',
  down: ' (down)',
  originDns: ' (name does not resolve)',
  originForbidden: ' (forbidden: not a public address, and not in origin-allow)',
} as const satisfies Readonly<Record<OriginState['state'], string>>;

function describeHandshake(
  problem: ReturnType<Surroundings['whyNoHandshake']>,
  site: Site | undefined,
  trustsProxies: boolean,
): string {
  const [first, second] = site?.tls === undefined ? [] : certificatesOf(site.tls);
  if (problem === undefined) {
    if (second === undefined) return "succeeds, with the domain's certificate";
    return `succeeds, with the domain's certificate ${first} or ${second}, whichever type of key the client accepts`;
  }
  return `fails: ${NO_HANDSHAKE[problem]}${trustsProxies ? '; the rest applies if a trusted proxy terminates TLS' : ''}`;
}

const NO_HANDSHAKE = {
  noListener: 'this edge does not listen for HTTPS',
  unknownServerName: 'no domain with HTTPS has this host',
  noCertificate: "the domain's certificate or key is missing or unusable, or not for this host",
} as const;

function describeSite({ id, name, type, state, revision }: Site): string {
  return `${id} ${name}, ${type}, ${state}, revision ${revision}`;
}

function describeLimit({ match, content, requests, seconds, burst }: SiteLimit, waitMs: number): string {
  const has = waitMs === 0 ? 'the client has requests left' : `refused for ${waitMs} ms`;
  return `${match} ${content}: ${requests} requests in ${seconds} s, ${burst} at once; ${has}`;
}

function describeSignature(signature: SignedUrl, asReceived: EdgeRequest): string {
  if (signature.kind === 'deny') return `refused: ${signature.reason}`;
  return signature.request === asReceived ? 'none is needed' : 'valid';
}

function describePlan(plan: Plan): string {
  if (plan.kind === 'cache') return 'cache';
  return plan.kind === 'bypass'
    ? `bypasses the cache: ${plan.reason}`
    : 'bypasses the cache, but the client accepts only a stored response';
}

function describePolicy(site: Site, request: EdgeRequest): string {
  const policy = site.caching.policies?.winnerFor(policyTarget(site, request));
  const { followsOrigin } = site.caching;
  if (policy === undefined) return `no policy matches; the origin's headers are ${followsOrigin ? '' : 'not '}followed`;
  const rule = followsOrigin ? "unless the origin's headers set a lifetime" : "instead of the origin's headers";
  return `policy ${policy.match} ${policy.content}: ${policy.lifetimeSeconds} s, ${rule}`;
}

interface LookedUp extends Pick<EdgeDecision, 'decision'> {
  readonly visit: Visit;
  readonly stored: string;
}

async function lookUpAll(edge: EdgeContext, asked: Omit<Visit, 'absentUpTo'>): Promise<LookedUp> {
  const looked = await lookUp(edge, asked);
  if (!isSliceable(edge, looked)) return { ...looked, stored: describeStored(looked.decision) };
  const { visit } = looked;
  const index = await lookUp(edge, { ...asked, key: indexKey(asked.key) }, visit.absentUpTo);
  const { decision } = index;
  const object = 'stored' in decision ? describeObject(visit, decision.stored) : undefined;
  if (object === undefined) return { ...looked, stored: 'nothing, or no index of slices' };
  if (!(await canBegin(edge, object, index.now)))
    return { decision: { kind: 'miss' }, visit, stored: 'slices, but not the first one of the answer' };
  return { decision, visit: index.visit, stored: `in slices, ${describeStored(decision)}` };
}

/** Whether the stored response would be the answer but has a coding that the client does not accept. */
function isCodedOtherwise(request: EdgeRequest, { decision }: LookedUp, now: number): boolean {
  if (decision.kind !== 'hit' && decision.kind !== 'stale') return false;
  const { stored } = decision;
  const answer = storedAnswer({ request: request.facts, stored, mark: { status: 'HIT' }, now, boundary: '' });
  return isUnreadable(request, answer);
}

function describeStored(decision: EdgeDecision['decision']): string {
  if (!('stored' in decision)) return 'nothing for this request';
  const { stored } = decision;
  const since = `requested ${new Date(stored.requestAt).toISOString()}, fresh until ${new Date(freshUntil(stored)).toISOString()}`;
  return `${stored.status}${stored.etag === undefined ? '' : ` ${stored.etag}`}, ${since}`;
}
