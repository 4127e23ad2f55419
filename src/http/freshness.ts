/** How long a response is fresh and how old it is. RFC 9111 §4.2 */
import type { Directives } from './cache-control.ts';
import { parseDate } from './dates.ts';
import type { CacheOptions, LifetimePolicy } from './options.ts';
import type { Exchange, Stored } from './stored.ts';

/** Where a lifetime comes from; the first three are explicit. */
type LifetimeSource = 'sMaxage' | 'maxAge' | 'expires' | 'policy' | 'statusDefault' | 'heuristic' | 'none';

export interface Lifetime {
  /** ≥ 0; 0 means stale from the start. */
  readonly lifetimeMs: number;
  readonly source: LifetimeSource;
}

export interface LifetimeInput {
  readonly status: number;
  readonly directives: Directives;
  /** Values of every `Expires` line; none where a targeted field rules. */
  readonly expires: readonly string[];
  readonly dateAt: number;
  readonly lastModifiedAt: number | undefined;
}

/** RFC 9111 §4.2.1 */
export function freshnessLifetime(input: LifetimeInput, now: number, options: CacheOptions): Lifetime {
  const { status, directives, expires, dateAt } = input;
  if (options.policy?.overrides === true && POLICY_STATUSES.has(status)) return policyLifetime(options.policy);
  if (directives.sMaxage !== undefined) return { lifetimeMs: directives.sMaxage * 1000, source: 'sMaxage' };
  if (directives.maxAge !== undefined) return { lifetimeMs: directives.maxAge * 1000, source: 'maxAge' };
  if (expires.length > 0) {
    // RFC 9111 §5.3: an invalid date, and likewise two of them, mean "already expired"
    const expiresAt = expires.length > 1 ? undefined : parseDate(expires[0], now);
    return { lifetimeMs: expiresAt === undefined ? 0 : Math.max(0, expiresAt - dateAt), source: 'expires' };
  }
  if (options.policy !== undefined && POLICY_STATUSES.has(status)) return policyLifetime(options.policy);
  return implicitLifetime(input, options);
}

export function isExplicit({ source }: Lifetime): boolean {
  return source === 'sMaxage' || source === 'maxAge' || source === 'expires';
}

/** Whether it may be stored, and its lifetime guessed, without explicit freshness. RFC 9110 §15.1 */
export function isGuessable(status: number, { isPublic }: Directives, { hasPolicies }: CacheOptions): boolean {
  // RFC 9111 §4.2.2: also any status that is marked public; but errors and passing redirects are not what policies are for
  return hasPolicies ? status < 500 && HEURISTIC_STATUSES.has(status) : HEURISTIC_STATUSES.has(status) || isPublic;
}

export interface InitialAgeInput {
  /** Result of `parseAge`. */
  readonly ageMs: number;
  readonly dateAt: number;
}

/** Age at the time the response arrived. RFC 9111 §4.2.3 */
export function initialAge({ ageMs, dateAt }: InitialAgeInput, { requestAt, responseAt }: Exchange): number {
  // Date has no finer grain than a second, so less than one proves nothing; a future Date gives 0.
  const apparentMs = Math.max(0, Math.floor((responseAt - dateAt) / 1000) * 1000);
  const correctedMs = ageMs + Math.max(0, responseAt - requestAt);
  return Math.max(apparentMs, correctedMs);
}

/** Milliseconds, ≥ 0, never falling while `now` rises; a clock set back does not make a response younger. RFC 9111 §4.2.3 */
export function currentAge(stored: Pick<Stored, 'initialAgeMs' | 'responseAt'>, now: number): number {
  return stored.initialAgeMs + Math.max(0, now - stored.responseAt);
}

/** RFC 9111 §4.2 */
export function isFresh(stored: Stored, now: number): boolean {
  return stored.lifetimeMs > currentAge(stored, now);
}

/** The first instant at which it is no longer fresh; may lie before `responseAt`. */
export function freshUntil(stored: Stored): number {
  return stored.responseAt - stored.initialAgeMs + stored.lifetimeMs;
}

/** A tenth of the time since the last change is the customary guess. RFC 9111 §4.2.2 */
const HEURISTIC_FRACTION = 0.1;

const HEURISTIC_STATUSES: ReadonlySet<number> = new Set([200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]);

/** What a policy is meant for: the object itself, or where it has gone for good. Errors and other redirects are not it. Edge rule 4 */
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
