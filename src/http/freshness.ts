/** Computes the freshness lifetime and age of responses. RFC 9111 §4.2 */
import type { Directives } from './cache-control.ts';
import { parseDate } from './dates.ts';
import type { CacheOptions, LifetimePolicy } from './options.ts';
import type { Exchange, Stored } from './stored.ts';

/** Source of a lifetime; the first three are explicit. */
type LifetimeSource = 'sMaxage' | 'maxAge' | 'expires' | 'policy' | 'statusDefault' | 'heuristic' | 'none';

export interface Lifetime {
  /** ≥ 0; 0 means stale from the start. */
  readonly lifetimeMs: number;
  readonly source: LifetimeSource;
}

export interface LifetimeInput {
  readonly status: number;
  readonly directives: Directives;
  /** Values of all `Expires` lines; none if a targeted field governs. */
  readonly expires: readonly string[];
  readonly dateAt: number;
  readonly lastModifiedAt: number | undefined;
}

/** Computes the freshness lifetime. RFC 9111 §4.2.1 */
export function freshnessLifetime(input: LifetimeInput, now: number, options: CacheOptions): Lifetime {
  const { status, directives, expires, dateAt } = input;
  if (options.policy?.overrides === true && POLICY_STATUSES.has(status)) return policyLifetime(options.policy);
  if (directives.sMaxage !== undefined) return { lifetimeMs: directives.sMaxage * 1000, source: 'sMaxage' };
  if (directives.maxAge !== undefined) return { lifetimeMs: directives.maxAge * 1000, source: 'maxAge' };
  if (expires.length > 0) {
    // RFC 9111 §5.3: an invalid date, or more than one, means "already expired"
    const expiresAt = expires.length > 1 ? undefined : parseDate(expires[0], now);
    return { lifetimeMs: expiresAt === undefined ? 0 : Math.max(0, expiresAt - dateAt), source: 'expires' };
  }
  if (options.policy !== undefined && POLICY_STATUSES.has(status)) return policyLifetime(options.policy);
  return implicitLifetime(input, options);
}

export function isExplicit({ source }: Lifetime): boolean {
  return source === 'sMaxage' || source === 'maxAge' || source === 'expires';
}

/** Whether a response may be stored without explicit freshness, with a heuristic lifetime. RFC 9110 §15.1 */
export function isGuessable(status: number, { isPublic }: Directives, { hasPolicies }: CacheOptions): boolean {
  // RFC 9111 §4.2.2 adds any status marked public. With policies that does not apply, since they are not meant for
  // errors and temporary redirects.
  return hasPolicies ? status < 500 && HEURISTIC_STATUSES.has(status) : HEURISTIC_STATUSES.has(status) || isPublic;
}

export interface InitialAgeInput {
  /** Result of `parseAge`. */
  readonly ageMs: number;
  readonly dateAt: number;
}

/** Returns the age at the time of receipt, in milliseconds. RFC 9111 §4.2.3 */
export function initialAge({ ageMs, dateAt }: InitialAgeInput, { requestAt, responseAt }: Exchange): number {
  // Date has a resolution of one second, so smaller differences prove nothing. A future Date yields 0.
  const apparentMs = Math.max(0, Math.floor((responseAt - dateAt) / 1000) * 1000);
  const correctedMs = ageMs + Math.max(0, responseAt - requestAt);
  return Math.max(apparentMs, correctedMs);
}

/**
 * Returns the age in milliseconds, ≥ 0. It never falls while `now` rises, and a clock that is set back does not make a
 * response younger. RFC 9111 §4.2.3
 */
export function currentAge(stored: Pick<Stored, 'initialAgeMs' | 'responseAt'>, now: number): number {
  return stored.initialAgeMs + Math.max(0, now - stored.responseAt);
}

/** RFC 9111 §4.2 */
export function isFresh(stored: Stored, now: number): boolean {
  return stored.lifetimeMs > currentAge(stored, now);
}

/** Returns the first instant at which the response is stale; it may lie before `responseAt`. */
export function freshUntil(stored: Stored): number {
  return stored.responseAt - stored.initialAgeMs + stored.lifetimeMs;
}

/** The customary fraction of the time since the last change. RFC 9111 §4.2.2 */
const HEURISTIC_FRACTION = 0.1;

const HEURISTIC_STATUSES: ReadonlySet<number> = new Set([200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]);

/**
 * Statuses that a policy applies to: the object itself, or a permanent answer in its place. Errors and other redirects
 * are excluded. Edge rule 4
 */
const POLICY_STATUSES: ReadonlySet<number> = new Set([200, 203, 206, 300, 301, 308, 410]);

function policyLifetime({ seconds }: LifetimePolicy): Lifetime {
  return { lifetimeMs: seconds * 1000, source: 'policy' };
}

function implicitLifetime(input: LifetimeInput, options: CacheOptions): Lifetime {
  const { status, directives, dateAt, lastModifiedAt } = input;
  const defaultSeconds = status < 500 ? options.defaultLifetimes.get(status) : undefined;
  if (defaultSeconds !== undefined) return { lifetimeMs: defaultSeconds * 1000, source: 'statusDefault' };
  const mayGuess = isGuessable(status, directives, options);
  if (!mayGuess || lastModifiedAt === undefined || lastModifiedAt >= dateAt) return { lifetimeMs: 0, source: 'none' };
  const guessMs = (dateAt - lastModifiedAt) * HEURISTIC_FRACTION;
  return { lifetimeMs: Math.min(guessMs, options.heuristicCapSeconds * 1000), source: 'heuristic' };
}
