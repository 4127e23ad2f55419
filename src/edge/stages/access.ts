/**
 * Stage 3: decides whether a request may be served, from the domain's state and its access rules, in that order. Edge
 * rules 1 and 6. Pure.
 */
import { firstValue } from '#http/headers.ts';
import { hasDotSegments } from '#http/target.ts';
import { DENY_RULES, type SiteAccess, type Subject } from '#sites/access.ts';
import type { Site } from '#sites/site.ts';
import type { Denial } from '../reasons.ts';
import type { EdgeRequest } from '../request.ts';

export type Access = { readonly kind: 'allow' } | { readonly kind: 'deny'; readonly reason: Denial };

type AskedRequest = Pick<EdgeRequest, 'clientAddress' | 'headers' | 'host' | 'target' | 'keyPath' | 'query'>;

/** Refuses without contacting an origin. */
export function checkAccess(site: Site, request: AskedRequest): Access {
  const state = checkState(site);
  return state.kind === 'deny' ? state : checkRules(site, request);
}

/** Whether the domain is served at all, regardless of the client. */
export function checkState({ state }: Site): Access {
  return state === 'open' ? ALLOW : { kind: 'deny', reason: state };
}

/**
 * Whether the request is for the redirect target of refused clients, which must be reachable. A target with dot segments
 * is not exempt, as an origin may resolve it to another path.
 */
export function isRefusalTarget(
  { access: { refusal } }: Pick<Site, 'access'>,
  { host, target, keyPath, query }: Pick<EdgeRequest, 'host' | 'target' | 'keyPath' | 'query'>,
): boolean {
  const isThere = refusal?.kind === 'redirect' && refusal.target === host + keyPath + query;
  return isThere && !hasDotSegments(target);
}

function checkRules(site: Site, request: AskedRequest): Access {
  if (isRefusalTarget(site, request)) return ALLOW;
  const { access } = site;
  const { clientAddress, headers } = request;
  const reason = denialOf(access, (subject) => (subject === 'address' ? clientAddress : firstValue(headers, subject)));
  return reason === undefined ? ALLOW : { kind: 'deny', reason };
}

/** Returns the reason of the first rule that refuses; `undefined` if none does. `read` returns what a rule looks at. */
export function denialOf(access: SiteAccess, read: (subject: Subject) => string | undefined): Denial | undefined {
  return RULES.find(({ member, subject }) => access[member]?.denies(read(subject)))?.reason;
}

interface Rule {
  readonly member: Exclude<keyof SiteAccess, 'refusal'>;
  readonly subject: Subject;
  readonly reason: Denial;
}

const { ip, ...LISTS } = DENY_RULES;

/** The rules in evaluation order: addresses first, which are the cheapest to check. */
const RULES: readonly Rule[] = [
  ip,
  { member: 'deniedLists', subject: 'address', reason: 'addressList' },
  { member: 'allowedLists', subject: 'address', reason: 'notListed' },
  { member: 'referers', subject: 'referer', reason: 'referer' },
  ...Object.values(LISTS),
];

const ALLOW: Access = { kind: 'allow' };
