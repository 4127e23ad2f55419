/**
 * The state of an edge: what follows from decisions about it, its own last report, and when it was last heard of. Pure.
 * docs/decisions/0598
 */
import { isLive } from './edge-live.ts';

export const EDGE_STATES = [
  'enrolled',
  'syncing',
  'ready',
  'unhealthy',
  'draining',
  'drained',
  'away',
  'suspect',
  'revoked',
  'removed',
] as const;
export type EdgeState = (typeof EDGE_STATES)[number];

/** The state that an edge reports of itself. `draining`: its own operator has ordered that, at the edge. */
export const OWN_STATES = ['syncing', 'ready', 'unhealthy', 'draining'] as const;
export type OwnState = (typeof OWN_STATES)[number];

/** Instants are epoch milliseconds; `undefined`: it has not happened. */
export interface EdgeFacts {
  readonly removedAt: number | undefined;
  readonly revokedAt: number | undefined;
  /** When two copies of it were noticed. */
  readonly suspectAt: number | undefined;
  /** When its drain was ordered, here or at the edge. */
  readonly drainAt: number | undefined;
  /** When it was last heard of; `undefined`: never. */
  readonly seenAt: number | undefined;
  /** `undefined`: it has not reported yet. */
  readonly ownState: OwnState | undefined;
  /** Viewers' requests a second, as of its last report. */
  readonly requestsPerSecond: number;
}

/** Time after the order within which resolvers and balancers still send viewers. */
export const DRAIN_MS = 60_000;
/** Viewers' requests a second from which an edge does not count as drained. */
export const DRAINED_BELOW = 10;

export function edgeState(facts: EdgeFacts, now: number): EdgeState {
  const { removedAt, revokedAt, suspectAt, drainAt, seenAt, ownState } = facts;
  if (removedAt !== undefined) return 'removed';
  if (revokedAt !== undefined) return 'revoked';
  if (drainAt !== undefined) return isDrained({ ...facts, drainAt }, now) ? 'drained' : 'draining';
  if (suspectAt !== undefined) return 'suspect';
  if (seenAt === undefined) return 'enrolled';
  if (!isSeen(facts, now)) return 'away';
  return ownState === undefined || ownState === 'draining' ? 'syncing' : ownState;
}

/** An edge that is silent serves no viewers that we know of. After a clock was set back, the time starts again. */
function isDrained(facts: EdgeFacts & { readonly drainAt: number }, now: number): boolean {
  return now - facts.drainAt >= DRAIN_MS && (!isSeen(facts, now) || facts.requestsPerSecond < DRAINED_BELOW);
}

/** Whether the edge was heard of within the last 30 s. */
export function isSeen({ seenAt }: Pick<EdgeFacts, 'seenAt'>, now: number): boolean {
  return seenAt !== undefined && isLive({ reportedAt: seenAt }, now);
}

/** `ready`: changes wait for the edge. `reserve`: they do where no ready edge serves. `none`: they never do. */
export type EdgeHold = 'ready' | 'reserve' | 'none';

export function edgeHold({ state, isSeen }: { readonly state: EdgeState; readonly isSeen: boolean }): EdgeHold {
  if (state === 'ready') return 'ready';
  return isSeen && MAY_RETURN.has(state) ? 'reserve' : 'none';
}

/**
 * Chooses, of the edges that serve a domain, those without whose acknowledgement its changes are not in force: the ready
 * ones. If none is ready, those that are seen and could get viewers again, so that a group whose only edge is drained or
 * unhealthy still shows when its changes are in force. docs/decisions/0598
 */
export function holdingEdges<E extends { readonly hold: EdgeHold }>(edges: readonly E[]): readonly E[] {
  const ready = edges.filter(({ hold }) => hold === 'ready');
  return ready.length > 0 ? ready : edges.filter(({ hold }) => hold === 'reserve');
}

const MAY_RETURN: ReadonlySet<EdgeState> = new Set(['syncing', 'unhealthy', 'draining', 'drained']);

/** What an operator does to an edge; the clone rule and enrolment are in `fleet/`. */
export const EDGE_ACTIONS = ['drain', 'undrain', 'remove'] as const;
export type EdgeAction = (typeof EDGE_ACTIONS)[number];

/** `same`: there is nothing to do. `forced`: allowed only if the operator insists. */
export type EdgeTransition = 'allowed' | 'same' | 'forced' | 'refused';

const LIVING: Readonly<Record<EdgeAction, EdgeTransition>> = { drain: 'allowed', undrain: 'same', remove: 'allowed' };
const DRAINING = { ...LIVING, drain: 'same', undrain: 'allowed' } as const;
const GONE = { drain: 'refused', undrain: 'refused', remove: 'allowed' } as const;

const TRANSITIONS: Readonly<Record<EdgeState, Readonly<Record<EdgeAction, EdgeTransition>>>> = {
  enrolled: LIVING,
  syncing: LIVING,
  ready: { ...LIVING, remove: 'forced' },
  unhealthy: LIVING,
  draining: DRAINING,
  drained: DRAINING,
  away: LIVING,
  suspect: LIVING,
  revoked: GONE,
  removed: { ...GONE, remove: 'same' },
};

export function edgeTransition(state: EdgeState, action: EdgeAction): EdgeTransition {
  return TRANSITIONS[state][action];
}

/** States that allow an action without force. */
export function edgeStatesThatAllow(action: EdgeAction): readonly EdgeState[] {
  return EDGE_STATES.filter((state) => TRANSITIONS[state][action] === 'allowed');
}
