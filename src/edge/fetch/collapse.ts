/**
 * Single flight per key: while one request asks the origin, others for the same object wait, read its body along, or
 * look it up once it is stored. Only storable responses are shared, so an answer that is not stored reaches one client
 * only.
 */
import type { Cancellation } from '#lib/cancellation.ts';
import { Lru } from '#lib/lru.ts';
import type { EdgeRequest } from '../request.ts';
import type { SharedBody } from '../store/shared-body.ts';

/** Limit of one wait; after it the request asks the origin itself. */
const WAIT_MS = 5_000;
/**
 * Limit of waits per request: for the head and the body of one fetch, and of a second one if the first brought another
 * variant.
 */
const MAX_WAITS = 4;
/** A larger announced body is not waited for: requests read along or fetch alone. */
const MAX_AWAITED_BYTES = 4 * 1024 * 1024;
/**
 * A body announced as at most this large is complete soon. Requests wait until it is stored, so that a body that breaks
 * off harms none of them.
 */
const MAX_SMALL_BYTES = 256 * 1024;
/** Time during which requests for a key whose answer was not stored are not collapsed (hit-for-miss). Edge rule 4 */
const UNSHARED_MS = 10_000;
const MAX_UNSHARED_KEYS = 10_000;
/** Landings that are remembered for requests whose look-up was in flight at that time. */
const MAX_LANDED_KEYS = 1_000;
/** A flight without a head after this time is no longer waited for, and another request may lead. */
const FLIGHT_MS = 60_000;

export type FlightRole =
  /** Other requests wait for this one. `land` must be called when they can look up again. */
  | { readonly kind: 'lead'; readonly publish: (shared: SharedBody) => void; readonly land: () => void }
  /** `ready` resolves when there is a body to read along, or a stored response to look up. */
  | { readonly kind: 'wait'; readonly ready: Promise<void> }
  /** The request reads a body in flight along. */
  | { readonly kind: 'join'; readonly shared: SharedBody }
  /** The request fetches by itself. `isRedundant`: another request is already storing the object. */
  | { readonly kind: 'alone'; readonly isRedundant: boolean };

export interface Flights {
  enter(key: string, request: EdgeRequest, turn: Turn): FlightRole;
  /** Count of flights that have landed so far: see `Turn.landings`. */
  readonly landings: number;
  /** Notes that the key's answer was not stored: for `UNSHARED_MS`, requests for the key are not collapsed. */
  markUnshared(key: string, now: number): void;
}

interface Turn {
  /** Number of waits of this request so far. */
  readonly waits: number;
  readonly now: number;
  /** Epoch milliseconds. A flight that began at or before this instant is ignored: the key was purged since. */
  readonly absentUpTo: number;
  /**
   * `Flights.landings` before the request's look-up: the object of a later landing may have been stored since.
   * docs/decisions/0557
   */
  readonly landings: number;
  /** Whether the response in flight would answer this request if it were stored. */
  readonly fits: (shared: SharedBody) => boolean;
}

/**
 * A fetch for a key that others may wait for. The promises are created on demand, since most flights have no waiters.
 */
class Flight {
  readonly startedAt: number;
  shared: SharedBody | undefined;
  #landed: PromiseWithResolvers<void> | undefined;
  #ready: PromiseWithResolvers<void> | undefined;

  constructor(startedAt: number) {
    this.startedAt = startedAt;
  }

  /** Promise of the landing. Must not be read after the landing. */
  get landed(): Promise<void> {
    this.#landed ??= Promise.withResolvers();
    return this.#landed.promise;
  }

  /** Resolves when the body is published or the flight lands. Must not be read after either. */
  get ready(): Promise<void> {
    this.#ready ??= Promise.withResolvers();
    return this.#ready.promise;
  }

  publish(shared: SharedBody): void {
    this.shared = shared;
    this.#ready?.resolve();
  }

  land(): void {
    this.shared = undefined; // or the table of flights would keep the body for a while, see `lib/roster.ts`
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
      // A flight whose body is arriving may take any time.
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

/** Ready promise of a request that has to look into the store again. */
const LANDED = Promise.resolve();

/** Resolves to true when `landed` resolves, to false after `WAIT_MS` or when the client has left. */
export async function waitForLanding(landed: Promise<void>, signal: Cancellation): Promise<boolean> {
  if (signal.aborted) return false; // an aborted signal notifies no new listener
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

/**
 * A HEAD or a range fetches nothing that others can use, and the answer to an authenticated request can seldom be
 * shared.
 */
function canShare({ facts }: EdgeRequest): boolean {
  return facts.method === 'GET' && facts.range === undefined && !facts.hasAuthorization;
}
