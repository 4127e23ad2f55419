/** Identifies the caller, and decides whether the call may be made: by a token in the body, or else by the session of a cookie. The order is that of docs/decisions/0210. */
import { ServiceError } from '#contract/errors/service-error.ts';
import { isPersonal, NEEDS_PROOF } from '#contract/route-kinds.ts';
import { ROUTES, type Route, type RouteName } from '#contract/routes.ts';
import { COMMON, SMS_COMMON } from '#contract/schema/operation.ts';
import { clientNetwork } from '#lib/cidr.ts';
import { rolesWith } from '#model/person.ts';
import { currentLook, strongUntil } from '#model/session.ts';
import type { Authenticate, Caller, Principal } from '../auth/authenticate.ts';
import { callSite, sessionSecretOf } from '../auth/browser.ts';
import type { AuthenticateSession } from '../auth/sessions.ts';
import type { Uses } from '../auth/uses.ts';
import type { AnsweredCaller } from '../call-answer.ts';
import { refuseWrongTime } from '../sms/sms-refusals.ts';
import { decodeOrRefuse } from './decode-or-refuse.ts';
import { createRates, type RateOptions } from './rates.ts';

/**
 * Operations that have the SMS checks: types of all fields before the token, the time before the scope.
 * docs/decisions/0210
 */
export const TIMED: readonly RouteName[] = ['sms.ordinary', 'sms.advertising', 'sms.updateStatus'];

/** What a session may do that waits for its second factor. */
const OF_PENDING: readonly RouteName[] = ['session.second', 'session.end'];

export interface AdmissionOptions extends RateOptions {
  readonly authenticate: Authenticate;
  readonly authenticateSession: AuthenticateSession;
  /** Scheme, host and port of the console. */
  readonly consoleOrigin: () => string;
  readonly uses: Pick<Uses, 'note'>;
  readonly sessionUses: Pick<Uses, 'note'>;
  readonly smsTimeWindowMs: number;
}

export type CallMembers = Readonly<Record<string, unknown>>;

interface AskedCall {
  readonly name: RouteName;
  readonly caller: Caller;
  readonly now: number;
}

export interface CallAdmission {
  /** Throws `ServiceError` if nobody is known by the call. */
  identify(call: AskedCall, members: CallMembers): Promise<Principal>;
  /** Throws `ServiceError` if the principal may not make the call, or not now. */
  refuse(call: AskedCall, members: CallMembers, principal: Principal): void;
  /** Header fields that say what is left of the principal's rate. */
  rateFieldsOf(principal: Principal): Readonly<Record<string, string>>;
}

/** The caller before sign-in. */
const NOBODY: Principal = { scopes: [], access: [], domainIds: undefined, limits: {}, isDisabled: false };

export function createAdmission(options: AdmissionOptions): CallAdmission {
  const { authenticate, authenticateSession, consoleOrigin, uses, sessionUses, smsTimeWindowMs } = options;
  const rates = createRates(options);

  async function identify({ name, caller, now }: AskedCall, members: CallMembers): Promise<Principal> {
    const { scope, base }: Route = ROUTES[name];
    const { browser } = caller;
    const site = () => (browser === undefined ? 'unsaid' : callSite(browser, consoleOrigin()));
    if (scope === 'none') {
      rates.takeAddress(clientNetwork(caller.address));
      if (site() === 'other') throw new ServiceError('crossSite');
      return NOBODY;
    }
    const hasToken = members['access_token'] != null;
    const secret = hasToken || browser === undefined ? undefined : sessionSecretOf(browser);
    if (secret !== undefined) {
      if (site() !== 'own') throw new ServiceError('crossSite');
      return await authenticateSession(secret, caller, now);
    }
    if (scope === 'person') throw new ServiceError('notSignedIn');
    const { access_token: accessToken } = decodeOrRefuse(base === 'sms' ? SMS_COMMON : COMMON, members);
    return await authenticate(accessToken, caller, now);
  }

  function refuse({ name, now, caller }: AskedCall, members: CallMembers, principal: Principal): void {
    const { token, session, isDisabled } = principal;
    const isElsewhere = token?.isElsewhere === true;
    const rated = ratedOf(principal);
    // A caller from an address where the token may not be used does not consume its rate.
    if (!isElsewhere) {
      if (token !== undefined) uses.note(token.id, now);
      if (session !== undefined) sessionUses.note(session.id, now);
      if (rated !== undefined) rates.take(rated, principal.limits);
    }
    if (TIMED.includes(name)) refuseWrongTime(members['time'], now, smsTimeWindowMs);
    const isOfPerson = isPersonal(name);
    if (isDisabled && !isOfPerson) throw new ServiceError('accountDisabled');
    if (isElsewhere) throw new ServiceError('addressNotAllowed', { address: caller.address });
    if (session?.isPending === true && !OF_PENDING.includes(name)) throw new ServiceError('secondFactorAwaited');
    if (!isOfPerson) refuseNotAllowed(name, principal, now);
    if (session !== undefined && NEEDS_PROOF.has(name) && now >= strongUntil(session))
      throw new ServiceError('proofNeeded');
  }

  const rateFieldsOf = (principal: Principal) => {
    const rated = ratedOf(principal);
    return rated === undefined ? {} : rates.fieldsOf(rated, principal.limits);
  };
  return { identify, refuse, rateFieldsOf };
}

/** Ids of the principal, for logs; `undefined` before sign-in, and for the command line of this machine. */
export function answeredCallerOf({ token, session, person, accountId }: Principal): AnsweredCaller | undefined {
  if (token === undefined && session === undefined) return undefined;
  return { accountId, tokenId: token?.id, personId: person?.id, sessionId: session?.id };
}

function ratedOf({ token, session, accountId }: Principal) {
  if (session !== undefined) return { key: `session ${session.id}`, accountId };
  return token && { key: String(token.id), accountId };
}

/**
 * Refuses callers without the scope or the access, and tokens limited to some domains where more than these is meant.
 * Without an operator's scope, `/operator/*` does not exist. docs/decisions/0629
 */
function refuseNotAllowed(name: RouteName, principal: Principal, now: number): void {
  const { session, accountId, scopes, access, domainIds, lacksSecondFactor } = principal;
  const route: Route = ROUTES[name];
  const { scope } = route;
  if (session !== undefined && accountId === undefined) throw new ServiceError('accountNotInView');
  if (lacksSecondFactor === true) throw new ServiceError('secondFactorNeeded');
  if (scope !== 'any' && !scopes.some((one) => one === scope))
    throw scope === 'operator' ? new ServiceError('pathUnknown') : new ServiceError('scopeMissing', { scope });
  if (!access.includes(route.access)) throw refusalOfAccess(principal, route, now);
  if (domainIds !== undefined && route.isByDomain !== true && scope !== 'any') throw new ServiceError('domainsLimited');
}

/** People read which roles would do. */
function refusalOfAccess({ person, session, scopes }: Principal, { access }: Route, now: number): ServiceError {
  if (session !== undefined && currentLook(session, now) !== undefined) return new ServiceError('lookReadOnly');
  if (person === undefined) return new ServiceError('accessMissing', { access });
  const roles = rolesWith(scopes.includes('operator') ? 'operator' : 'customer', access);
  return new ServiceError('roleLacksAccess', { access, roles: roles.join(', ') });
}
