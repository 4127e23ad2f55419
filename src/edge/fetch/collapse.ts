/**
 * One fetch per key: while one request asks the origin, others for the same object wait, read along when its answer
 * comes, or look again when it is stored. They share nothing but what the store takes, so an answer that is not stored reaches one client alone.
 */
import type { Cancellation } from '#lib/cancellation.ts';
import { Lru } from '#lib/lru.ts';
import type { EdgeRequest } from '../request.ts';
import type { SharedBody } from '../store/shared-body.ts';

/** Longest wait; then a request asks the origin itself. */
const WAIT_MS = 5_000;
/** Waits of one request: for head and body of a fetch, and for those of a second one when the first was of another variant. */
const MAX_WAITS = 4;
/** A body announced as larger than this is not waited for: requests read along or fetch alone. */
const MAX_AWAITED_BYTES = 4 * 1024 * 1024;
/**
 * A body announced as no larger than this is complete soon. Requests wait for it, so that none is hurt if it breaks
 * off.
 */
const MAX_SMALL_BYTES = 256 * 1024;
/** How long a key whose answer was not stored is fetched by each request at once. Edge rule 4 */
const UNSHARED_MS = 10_000;
const MAX_UNSHARED_KEYS = 10_000;
/** Landings that are remembered, for requests whose look-up was under way meanwhile. */
const MAX_LANDED_KEYS = 1_000;
/** A fetch that takes longer is not waited for any more, and another may lead. */
const FLIGHT_MS = 60_000;

export type FlightRole =
  /** The others wait for this one; `land` must be called when they can look again. */
  | { readonly kind: 'lead'; readonly publish: (shared: SharedBody) => void; readonly land: () => void }
  /** `ready` resolves when there is a body to read along, or a stored response to look up. */
  | { readonly kind: 'wait'; readonly ready: Promise<void> }
  /** Reads along. */
  | { readonly kind: 'join'; readonly shared: SharedBody }
  /** `isRedundant`: another request is storing the key's object already. */
  | { readonly kind: 'alone'; readonly isRedundant: boolean };

export interface Flights {
  enter(key: string, request: EdgeRequest, turn: Turn): FlightRole;
  /** Flights that have landed so far: see `Turn.landings`. */
  readonly landings: number;
  /** Notes that the key's answer was not stored: for a while, requests for the key do not wait for each other. */
  markUnshared(key: string, now: number): void;
}

interface Turn {
  /** How often this request has waited already. */
  readonly waits: number;
  readonly now: number;
  /** What began at or before this instant says nothing any more: the key was purged. */
  readonly absentUpTo: number;
  /** `landings` before the request looked into the store: what landed since may have been stored since. docs/decisions/0557 */
  readonly landings: number;
  /** Whether what is on its way would answer this request if it were stored. */
  readonly fits: (shared: SharedBody) => boolean;
}

/** A fetch for a key that others may wait for. Most have nobody who waits. */
class Flight {
  readonly startedAt: number;
  shared: SharedBody | undefined;
  #landed: PromiseWithResolvers<void> | undefined;
  #ready: PromiseWithResolvers<void> | undefined;

  constructor(startedAt: number) {
    this.startedAt = startedAt;
  }

  /** A promise of the landing, which must not have happened. */
  get landed(): Promise<void> {
    this.#landed ??= Promise.withResolvers();
    return this.#landed.promise;
  }

  /** Resolves when it is published or lands, of which neither may have happened. */
  get ready(): Promise<void> {
    this.#ready ??= Promise.withResolvers();
    return this.#ready.promise;
  }

  publish(shared: SharedBody): void {
    this.shared = shared;
    this.#ready?.resolve();
  }

  land(): void {
    this.#landed?.resolve();
    this.#ready?.resolve();
  }
}

export function createFlights(): Flights {
  const flights = new Map<string, Flight>();
  const unsharedSince = new Lru<string, number>({ maxWeight: MAX_UNSHARED_KEYS });
  const landedAt = new Lru<string, number>({ maxWeight: MAX_LANDED_KEYS });
  let landings = 0;

  const lead = (key: string, startedAt: number): FlightRole => {
    const flight = new Flight(startedAt);
    flights.set(key, flight);
    const land = () => {
      if (flights.get(key) === flight) flights.delete(key);
      landedAt.set(key, ++landings);
      flight.land();
    };
    return { kind: 'lead', publish: (shared) => flight.publish(shared), land };
  };

  return {
    enter: (key, request, { waits, now, absentUpTo, landings: landingsBefore, fits }) => {
      const unsharedAt = unsharedSince.get(key) ?? Number.NEGATIVE_INFINITY;
      const isUnshared = unsharedAt > absentUpTo && Math.abs(now - unsharedAt) < UNSHARED_MS;
      if (!canShare(request) || isUnshared) return { kind: 'alone', isRedundant: false };
      const flight = flights.get(key);
      const shared = flight?.shared;
      // A flight whose answer is arriving may take as long as it needs.
      const since = shared === undefined ? Math.max(absentUpTo, now - FLIGHT_MS) : absentUpTo;
      if (flight === undefined || flight.startedAt <= since) {
        const hasLanded = (landedAt.get(key) ?? 0) > landingsBefore;
        return hasLanded && waits < MAX_WAITS ? { kind: 'wait', ready: LANDED } : lead(key, now);
      }
      if (shared === undefined && waits < MAX_WAITS) return { kind: 'wait', ready: flight.ready };
      const isMatch = shared !== undefined && fits(shared);
      const bodyBytes = shared?.bodyBytes ?? 0;
      const isSmall = shared?.bodyBytes !== undefined && bodyBytes <= MAX_SMALL_BYTES;
      if (isMatch && shared.isOpen && !isSmall) return { kind: 'join', shared };
      if (bodyBytes <= MAX_AWAITED_BYTES && waits < MAX_WAITS) return { kind: 'wait', ready: flight.landed };
      return { kind: 'alone', isRedundant: isMatch };
    },
    get landings() {
      return landings;
    },
    markUnshared: (key, now) => void unsharedSince.set(key, now),
  };
}

/** The wait of a request that has to look into the store once more. */
const LANDED = Promise.resolve();

/** Resolves when the flight has landed, after `WAIT_MS`, or when the client is gone; true in the first case. */
export async function waitForLanding(landed: Promise<void>, signal: Cancellation): Promise<boolean> {
  if (signal.aborted) return false; // an aborted one calls no further listener
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const giveUp = () => resolve(false);
  const timer = setTimeout(giveUp, WAIT_MS);
  signal.addEventListener('abort', giveUp, { once: true });
  void landed.then(() => resolve(true)); // never rejects
  const hasLanded = await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', giveUp);
  return hasLanded;
}

/** A HEAD or a range brings nothing for others, an authenticated request seldom does. */
function canShare({ facts }: EdgeRequest): boolean {
  return facts.method === 'GET' && facts.range === undefined && !facts.hasAuthorization;
}
