/**
 * A call, top to bottom: authenticate, limit, decode, act, answer. The only place that turns errors into answers. Knows
 * nothing of HTTP servers.
 */
import { ServiceError } from '#contract/errors/service-error.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { ADDING } from '#contract/route-kinds.ts';
import { ROUTES, type RouteName } from '#contract/routes.ts';
import type { Locale } from '#contract/schema/locale.ts';
import { isDatabaseAway } from '#db/failures.ts';
import type { Db } from '#db/open.ts';
import type { Logger } from '#lib/logger.ts';
import type { AuditActor } from '#model/audit.ts';
import { askedChange } from '../audit/asked-change.ts';
import { readingOutside, withTrail } from '../audit/trail.ts';
import type { Caller, Principal } from '../auth/authenticate.ts';
import { answerFailure, answerSuccess, type CallAnswer } from '../call-answer.ts';
import { LIMIT_HANDLERS, limitsFor } from '../handlers/account-limits.ts';
import { AUDIT_HANDLERS } from '../handlers/audit.ts';
import { BANDWIDTH_HANDLERS } from '../handlers/bandwidth.ts';
import { BULK_HANDLERS } from '../handlers/bulk-changes.ts';
import { CACHE_HANDLERS } from '../handlers/cache.ts';
import { CERTIFICATE_VIEW_HANDLERS } from '../handlers/certificate-views.ts';
import { CHECK_HANDLERS } from '../handlers/checks.ts';
import { CONFIG_HANDLERS } from '../handlers/config.ts';
import { DOMAIN_HANDLERS } from '../handlers/domains.ts';
import { EDGE_OPERATOR_HANDLERS } from '../handlers/edge-operators.ts';
import { EVENT_HANDLERS } from '../handlers/events.ts';
import { FLEET_OPERATOR_HANDLERS } from '../handlers/fleet-operators.ts';
import { GROUP_HANDLERS } from '../handlers/groups.ts';
import type { Call, CallServices, Handler } from '../handlers/handler.ts';
import { INVITATION_HANDLERS } from '../handlers/invitations.ts';
import { LIVE_HANDLERS } from '../handlers/live.ts';
import { LIVE_OPERATOR_HANDLERS } from '../handlers/live-operators.ts';
import { LOG_SEARCH_HANDLERS } from '../handlers/log-search.ts';
import { MEMBER_HANDLERS } from '../handlers/members.ts';
import { OPERATOR_HANDLERS } from '../handlers/operators.ts';
import { PERSON_HANDLERS } from '../handlers/persons.ts';
import { SERIES_HANDLERS } from '../handlers/series.ts';
import { SESSION_HANDLERS } from '../handlers/sessions.ts';
import { SINK_HANDLERS } from '../handlers/sinks.ts';
import { SMS_HANDLERS } from '../handlers/sms.ts';
import { SMS_OPERATOR_HANDLERS } from '../handlers/sms-operators.ts';
import { TOKEN_HANDLERS } from '../handlers/tokens.ts';
import { TRAFFIC_HANDLERS } from '../handlers/traffic.ts';
import { WATCH_HANDLERS } from '../handlers/watch.ts';
import { StaleRevision } from '../settings/change.ts';
import { isDomainChange, refuseStale } from '../settings/stale-revision.ts';
import { COOKIES, NOTES, READ, type ResultOf, WRITE } from '../wire/wire.ts';
import type { Look } from '../wire/wire-domain.ts';
import { readIfRevision } from '../wire/wire-values.ts';
import { type AdmissionOptions, answeredCallerOf, type CallMembers, createAdmission, TIMED } from './admission.ts';
import { answerOnce } from './answer-once.ts';
import { decodeOrRefuse } from './decode-or-refuse.ts';

/** A route without a handler does not compile. */
const HANDLERS: { readonly [N in RouteName]: Handler<N> } = {
  ...DOMAIN_HANDLERS,
  ...BULK_HANDLERS,
  ...CHECK_HANDLERS,
  ...CONFIG_HANDLERS,
  ...CERTIFICATE_VIEW_HANDLERS,
  ...CACHE_HANDLERS,
  ...TRAFFIC_HANDLERS,
  ...LOG_SEARCH_HANDLERS,
  ...SERIES_HANDLERS,
  'stat.bandwidth': BANDWIDTH_HANDLERS['stat.bandwidth'],
  ...LIVE_HANDLERS,
  ...AUDIT_HANDLERS,
  ...SMS_HANDLERS,
  ...SESSION_HANDLERS,
  ...PERSON_HANDLERS,
  ...MEMBER_HANDLERS,
  ...INVITATION_HANDLERS,
  ...TOKEN_HANDLERS,
  'account.getLimits': LIMIT_HANDLERS['account.getLimits'],
  ...OPERATOR_HANDLERS,
  ...EDGE_OPERATOR_HANDLERS,
  ...EVENT_HANDLERS,
  ...WATCH_HANDLERS,
  ...FLEET_OPERATOR_HANDLERS,
  ...GROUP_HANDLERS,
  ...SINK_HANDLERS,
  ...LIVE_OPERATOR_HANDLERS,
  ...SMS_OPERATOR_HANDLERS,
};

/**
 * What the command line of this machine acts for on customers' operations: no account has this id. It has no `cdn`
 * scope anyway.
 */
const NO_ACCOUNT = 0;

export interface DispatchOptions extends AdmissionOptions {
  readonly services: CallServices;
  readonly look: Omit<Look, 'locale'>;
  readonly log: Logger;
}

export interface Request {
  readonly name: RouteName;
  /** Parsed JSON. */
  readonly body: unknown;
  readonly caller: Caller;
  readonly locale: Locale;
  readonly requestId: string;
  /** The field `Idempotency-Key`. */
  readonly idempotencyKey?: string | undefined;
  readonly now: number;
}

/** Never rejects: our own faults are logged and answered too. */
export type Dispatch = (request: Request) => Promise<CallAnswer>;

export function createDispatch(options: DispatchOptions): Dispatch {
  const admission = createAdmission(options);
  const services = { ...options.services, db: readingOutside(options.services.db) };

  function act(request: Request, members: CallMembers, asked: unknown, by: Principal): Promise<CallAnswer> {
    const { name, now, idempotencyKey: key } = request;
    if (key === undefined || !ADDING.has(name)) return answer(request, members, asked, by, services.db);
    const requester = by.person === undefined ? tokenIdOf(by) : actorIdOf(by);
    const keyed = { key, requester, operation: name, members, accountId: by.accountId ?? NO_ACCOUNT, now };
    return answerOnce(services, keyed, (db) => answer(request, members, asked, by, readingOutside(db)));
  }

  async function answer(
    request: Request,
    members: CallMembers,
    asked: unknown,
    by: Principal,
    db: Db,
  ): Promise<CallAnswer> {
    const { name, locale, now, caller, requestId } = request;
    const { maxDomains, cacheLimits } = limitsFor(services, by.limits);
    const call = {
      ...services,
      maxDomains,
      cacheLimits,
      services,
      db: leavesEvent(name) ? audited(db, request, members, by) : db,
      now,
      accountId: by.accountId ?? NO_ACCOUNT,
      domainIds: by.domainIds,
      tokenId: tokenIdOf(by),
      by,
      actor: actorIdOf(by),
      caller,
      requestId,
      address: caller.address,
      ifRevision: readIfRevision(asked),
    };
    const { data, note, cookie } = await perform(name, asked, call, { ...options.look, locale });
    const answered = answerSuccess(name, data, locale, note);
    return cookie === undefined ? answered : { ...answered, headers: { 'set-cookie': cookie } };
  }

  /** The answer, with what is left of the caller's rate. A path that the caller may not know of says nothing of it. */
  function toCaller(answer: CallAnswer, principal: Principal | undefined): CallAnswer {
    const by = principal && answeredCallerOf(principal);
    if (principal === undefined || by === undefined) return answer;
    if (principal.token?.isElsewhere === true || answer.outcome === 'pathUnknown') return { ...answer, by };
    return { ...answer, by, headers: { ...answer.headers, ...admission.rateFieldsOf(principal) } };
  }

  return async (request) => {
    const { name, body } = request;
    let principal: Principal | undefined;
    try {
      const members = readMembers(body);
      const decode = () => decodeOrRefuse(OPERATIONS[name].request, members);
      const decoded = TIMED.includes(name) ? decode() : undefined; // before the token
      principal = await admission.identify(request, members);
      admission.refuse(request, members, principal);
      return toCaller(await act(request, members, decoded ?? decode(), principal), principal);
    } catch (error) {
      const failure = toServiceError(error, request, options.log);
      return toCaller(answerFailure(failure, ROUTES[name].path, request.locale), principal);
    }
  };
}

/** Retry-After while the database is away: it may be a matter of seconds. */
const NOT_READY_SECONDS = 5;

/**
 * Anything but a `ServiceError` is logged here: a database that is away, or else our fault, and the caller gets the
 * number to ask us about.
 */
export function toServiceError(error: unknown, { requestId }: Pick<Request, 'requestId'>, log: Logger): ServiceError {
  if (error instanceof ServiceError) return error;
  log.error({ err: error, requestId }, 'API request failed');
  return isDatabaseAway(error) ? notReady() : new ServiceError('internal', { requestId });
}

export function notReady(): ServiceError {
  return new ServiceError('notReady', { seconds: NOT_READY_SECONDS });
}

function readMembers(body: unknown): CallMembers {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new ServiceError('bodyNotJson');
  return body as CallMembers; // any object has members
}

/** A person is not known before sign-in: the handlers of those operations leave events themselves. */
function leavesEvent(name: RouteName): boolean {
  return ROUTES[name].access !== 'read' && ROUTES[name].scope !== 'none';
}

/** The database for a call that may change something: it leaves events of the audit trail. */
function audited(db: Db, { name, caller, requestId, now }: Request, members: CallMembers, by: Principal): Db {
  const hasOwner = ROUTES[name].scope !== 'operator';
  const occasion = { at: now, actor: actorOf(by, caller), operation: name, requestId };
  return withTrail(db, occasion, () => askedChange(name, members, hasOwner ? by.accountId : undefined));
}

/** 0 for a person, and for the command line of this machine. */
function tokenIdOf({ token }: Principal): number {
  return token?.id ?? 0;
}

function actorIdOf(by: Principal): string {
  return by.person === undefined ? `token:${tokenIdOf(by)}` : `person:${by.person.id}`;
}

function actorOf({ token, session, person, accountId }: Principal, { address, user = '' }: Caller): AuditActor {
  const sessionId = session?.id;
  if (person !== undefined)
    return { kind: 'person', name: person.name, accountId, personId: person.id, sessionId, address };
  if (token === undefined) return { kind: 'local', name: user, address };
  return { kind: 'token', name: token.label, accountId: token.accountId, tokenId: token.id, sessionId, address };
}

type Write<N extends RouteName> = (result: ResultOf<N>, look: Look) => unknown;

async function perform<N extends RouteName>(name: N, asked: unknown, call: Call, look: Look) {
  // The tables have one entry per route, each made for the same N; the compiler checks every entry, but loses the tie
  // between them when N is not known.
  const read = READ[name] as (request: unknown) => Parameters<Handler<N>>[1];
  const write = (WRITE as Readonly<Partial<Record<N, Write<N>>>>)[name];
  const addToInfo = NOTES[name] as ((result: ResultOf<N>, look: Look) => string) | undefined;
  try {
    const result = await HANDLERS[name](call, read(asked));
    const cookieOf = COOKIES[name] as ((result: ResultOf<N>) => string | undefined) | undefined;
    const data = write === undefined ? true : write(result, look);
    return { data, note: addToInfo?.(result, look) ?? '', cookie: cookieOf?.(result) };
  } catch (error) {
    throw error instanceof StaleRevision && isDomainChange(name) ? refuseStale(name, error, look) : error;
  }
}
