/**
 * Stage 3: decides whether a request may be served, from the domain's state and its access rules, in that order. Edge
 * rules 1 and 6. Pure.
 */
import { firstValue } from '#http/headers.ts';
import { hasDotSegments } from '#http/target.ts';
import type { SiteAccess } from '#sites/access.ts';
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

function checkRules({ access }: Site, request: AskedRequest): Access {
  const { refusal } = access;
  const { clientAddress, headers, host, target, keyPath, query } = request;
  // The redirect target of refused clients must be reachable. A target with dot segments is not exempt, as an origin
  // may resolve it to another path.
  const isThere = refusal?.kind === 'redirect' && refusal.target === host + keyPath + query;
  if (isThere && !hasDotSegments(target)) return ALLOW;
  const client = {
    clientAddress,
    referer: firstValue(headers, 'referer'),
    userAgent: firstValue(headers, 'user-agent'),
  };
  const reason = denialOf(access, client);
  return reason === undefined ? ALLOW : { kind: 'deny', reason };
}

/** The client properties that rules check. */
export interface AskingClient {
  readonly clientAddress: string;
  readonly referer: string | undefined;
  readonly userAgent: string | undefined;
}

/** Returns the reason of the first rule that refuses; `undefined` if none does. */
export function denialOf(access: SiteAccess, client: AskingClient): Denial | undefined {
  return RULES.find(({ denies }) => denies(access, client))?.reason;
}

export function deniesAddress({ deniedAddresses }: SiteAccess, address: string): boolean {
  return deniedAddresses?.has(address) === true;
}

export function deniesReferer({ referers }: SiteAccess, referer: string | undefined): boolean {
  return referers?.denies(referer) === true;
}

export function deniesUserAgent({ deniedUserAgents }: SiteAccess, userAgent: string | undefined): boolean {
  return deniedUserAgents?.denies(userAgent) === true;
}

interface Rule {
  readonly reason: Denial;
  readonly denies: (access: SiteAccess, client: AskingClient) => boolean;
}

/** The rules in evaluation order. A list of `SiteAccess` without a row here does not compile. */
const RULES: readonly Rule[] = Object.values({
  deniedAddresses: { reason: 'ip', denies: (access, { clientAddress }) => deniesAddress(access, clientAddress) },
  referers: { reason: 'referer', denies: (access, { referer }) => deniesReferer(access, referer) },
  deniedUserAgents: { reason: 'userAgent', denies: (access, { userAgent }) => deniesUserAgent(access, userAgent) },
} as const satisfies Record<Exclude<keyof SiteAccess, 'refusal'>, Rule>);

const ALLOW: Access = { kind: 'allow' };
