/**
 * A call, top to bottom: authenticate, limit, decode, act, answer. The only place that turns errors into answers. Knows
 * nothing of HTTP servers.
 */
import { decodeRequest } from '#contract/decode.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { ADDING, ROUTES, type Route, type RouteName } from '#contract/routes.ts';
import type { Locale } from '#contract/schema/locale.ts';
import { COMMON, SMS_COMMON } from '#contract/schema/operation.ts';
import { isDatabaseAway } from '#db/failures.ts';
import type { Db } from '#db/open.ts';
import type { Logger } from '#lib/logger.ts';
import { askedChange } from '../audit/asked-change.ts';
import { readingOutside, withTrail } from '../audit/trail.ts';
import type { Authenticate, Caller, Principal } from '../auth/authenticate.ts';
import type { TokenUses } from '../auth/token-uses.ts';
import { answerFailure, answerSuccess, type CallAnswer } from '../call-answer.ts';
import { LIMIT_HANDLERS, limitsFor } from '../handlers/account-limits.ts';
import { AUDIT_HANDLERS } from '../handlers/audit.ts';
import { CACHE_HANDLERS } from '../handlers/cache.ts';
import { CHECK_HANDLERS } from '../handlers/checks.ts';
import { CONFIG_HANDLERS } from '../handlers/config.ts';
import { DOMAIN_HANDLERS } from '../handlers/domains.ts';
import { EDGE_OPERATOR_HANDLERS } from '../handlers/edge-operators.ts';
import { EVENT_HANDLERS } from '../handlers/events.ts';
import { FLEET_OPERATOR_HANDLERS } from '../handlers/fleet-operators.ts';
import { GROUP_HANDLERS } from '../handlers/groups.ts';
import type { Call, CallServices, Handler } from '../handlers/handler.ts';
import { LIVE_HANDLERS } from '../handlers/live.ts';
import { LIVE_OPERATOR_HANDLERS } from '../handlers/live-operators.ts';
import { OPERATOR_HANDLERS } from '../handlers/operators.ts';
import { SMS_HANDLERS } from '../handlers/sms.ts';
import { SMS_OPERATOR_HANDLERS } from '../handlers/sms-operators.ts';
import { TOKEN_HANDLERS } from '../handlers/tokens.ts';
import { TRAFFIC_HANDLERS } from '../handlers/traffic.ts';
import { StaleRevision } from '../settings/change.ts';
import { isDomainChange, refuseStale } from '../settings/stale-revision.ts';
import { refuseWrongTime } from '../sms/sms-refusals.ts';
import { NOTES, READ, type ResultOf, WRITE } from '../wire/wire.ts';
import type { Look } from '../wire/wire-domain.ts';
import { readIfRevision } from '../wire/wire-values.ts';
import { answerOnce } from './answer-once.ts';
import { createRates, type RateOptions } from './rates.ts';

/** A route without a handler does not compile. */
const HANDLERS: { readonly [N in RouteName]: Handler<N> } = {
  ...DOMAIN_HANDLERS,
  ...CHECK_HANDLERS,
  ...CONFIG_HANDLERS,
  ...CACHE_HANDLERS,
  ...TRAFFIC_HANDLERS,
  ...LIVE_HANDLERS,
  ...AUDIT_HANDLERS,
  ...SMS_HANDLERS,
  ...TOKEN_HANDLERS,
  'account.getLimits': LIMIT_HANDLERS['account.getLimits'],
  ...OPERATOR_HANDLERS,
  ...EDGE_OPERATOR_HANDLERS,
  ...EVENT_HANDLERS,
  ...FLEET_OPERATOR_HANDLERS,
  ...GROUP_HANDLERS,
  ...LIVE_OPERATOR_HANDLERS,
  ...SMS_OPERATOR_HANDLERS,
};

/**
 * Operations that have the SMS checks: types of all fields before the token, the time before the scope.
 * docs/decisions/0210
 */
const TIMED: readonly RouteName[] = ['sms.ordinary', 'sms.advertising', 'sms.updateStatus'];

/**
 * What the command line of this machine acts for on customers' operations: no account has this id. It has no `cdn`
 * scope anyway.
 */
const NO_ACCOUNT = 0;

export interface DispatchOptions extends RateOptions {
  readonly services: CallServices;
  readonly authenticate: Authenticate;
  readonly uses: Pick<TokenUses, 'note'>;
  readonly smsTimeWindowMs: number;
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
  const rates = createRates(options);
  const services = { ...options.services, db: readingOutside(options.services.db) };

  /** What the token, the moment and the account allow, in the order of docs/decisions/0210. */
  function refuse({ name, now, caller }: Request, members: Members, principal: Principal): void {
    const { token, isDisabled } = principal;
    const isElsewhere = token?.isElsewhere === true;
    if (token !== undefined && !isElsewhere) options.uses.note(token.id, now);
    // A caller from an address where the token may not be used does not consume its rate.
    if (token !== undefined && !isElsewhere) rates.take(token, principal.limits);
    if (TIMED.includes(name)) refuseWrongTime(members['time'], now, options.smsTimeWindowMs);
    if (isDisabled) throw new ServiceError('accountDisabled');
    if (isElsewhere) throw new ServiceError('addressNotAllowed', { address: caller.address });
    refuseNotAllowed(name, principal);
  }

  async function act(request: Request, members: Members, asked: unknown, by: Principal): Promise<CallAnswer> {
    const { name, locale, now, caller, idempotencyKey } = request;
    const { token, domainIds } = by;
    const call = {
      ...services,
      ...limitsFor(services, by.limits),
      services,
      now,
      accountId: token?.accountId ?? NO_ACCOUNT,
      domainIds,
      tokenId: token?.id ?? 0,
      address: caller.address,
      ifRevision: readIfRevision(asked),
    };
    const answer = async (db: Db) => {
      const given = { ...call, db: ROUTES[name].access === 'read' ? db : audited(db, request, members, token) };
      const { data, note } = await perform(name, asked, given, { ...options.look, locale });
      return answerSuccess(name, data, locale, note);
    };
    const key = ADDING.has(name) ? idempotencyKey : undefined;
    if (key === undefined) return await answer(call.db);
    return await answerOnce(call, { ...call, key, operation: name, members }, (db) => answer(readingOutside(db)));
  }

  /** The answer, with what is left of the caller's rate. A path that the caller may not know of says nothing of it. */
  function toCaller(answer: CallAnswer, principal: Principal | undefined): CallAnswer {
    const by = principal?.token;
    if (by === undefined || by.isElsewhere || answer.outcome === 'pathUnknown') return { ...answer, by };
    return { ...answer, by, headers: { ...answer.headers, ...rates.fieldsOf(by, principal?.limits ?? {}) } };
  }

  return async (request) => {
    const { name, body, caller, now } = request;
    let principal: Principal | undefined;
    try {
      const members = readMembers(body);
      const { access_token: accessToken } = decodeOrRefuse(ROUTES[name].base === 'sms' ? SMS_COMMON : COMMON, members);
      const decode = () => decodeOrRefuse(OPERATIONS[name].request, members);
      const decoded = TIMED.includes(name) ? decode() : undefined;
      principal = await options.authenticate(accessToken, caller, now);
      refuse(request, members, principal);
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

type Members = Readonly<Record<string, unknown>>;

function readMembers(body: unknown): Members {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new ServiceError('bodyNotJson');
  return body as Members; // any object has members
}

function decodeOrRefuse<R extends Parameters<typeof decodeRequest>[0]>(contract: R, members: Members) {
  const decoded = decodeRequest(contract, members);
  if (decoded.kind === 'error') throw new ServiceError(decoded.code, decoded.parameters);
  return decoded.value;
}

/** The database for a call that may change something: it leaves events of the audit trail. */
function audited(db: Db, { name, caller, requestId, now }: Request, members: Members, token: Principal['token']): Db {
  const { address, user = '' } = caller;
  const actor =
    token === undefined
      ? ({ kind: 'local', name: user, address } as const)
      : ({ kind: 'token', name: token.label, accountId: token.accountId, tokenId: token.id, address } as const);
  const owner = ROUTES[name].scope === 'operator' ? undefined : token?.accountId;
  return withTrail(db, { at: now, actor, operation: name, requestId }, () => askedChange(name, members, owner));
}

/**
 * Refuses tokens without the scope or the access, and tokens limited to some domains where more than these is meant.
 * Without an operator's scope, `/operator/*` does not exist. docs/decisions/0629
 */
function refuseNotAllowed(name: RouteName, { scopes, access, domainIds }: Principal): void {
  const route: Route = ROUTES[name];
  const { scope } = route;
  if (scope !== 'any' && !scopes.includes(scope))
    throw scope === 'operator' ? new ServiceError('pathUnknown') : new ServiceError('scopeMissing', { scope });
  if (!access.includes(route.access)) throw new ServiceError('accessMissing', { access: route.access });
  if (domainIds !== undefined && route.isByDomain !== true && scope !== 'any') throw new ServiceError('domainsLimited');
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
    return { data: write === undefined ? true : write(result, look), note: addToInfo?.(result, look) ?? '' };
  } catch (error) {
    throw error instanceof StaleRevision && isDomainChange(name) ? refuseStale(name, error, look) : error;
  }
}
