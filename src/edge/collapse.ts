/**
 * One fetch per key: while one request asks the origin, others for the same object wait, and look again when its answer is
 * stored. They share nothing but what the store gives them, so an answer that is not stored reaches one client alone.
 */
import { Lru } from '#lib/lru.ts';
import type { EdgeRequest } from './request.ts';
import type { Fill } from './respond/answer.ts';

/** Longest wait; then a request asks the origin itself. */
const WAIT_MS = 5_000;
/** Waits of one request: the second is for those whose variant was another than the first fetch's. */
const MAX_WAITS = 2;
/** A body that announces more is not waited for. */
const MAX_AWAITED_BYTES = 4 * 1024 * 1024;
/** How long a key whose answer was not stored is fetched by each request at once. Edge rule 4 */
const UNSHARED_MS = 10_000;
const MAX_UNSHARED_KEYS = 10_000;
/** A fetch that takes longer is not waited for any more, and another may lead. */
const FLIGHT_MS = 60_000;

export type Place =
  /** The others wait for this one; `land` must be called when they can look again. */
  | { readonly kind: 'lead'; readonly land: () => void }
  | { readonly kind: 'wait'; readonly landed: Promise<void> }
  | { readonly kind: 'alone' };

export interface Flights {
  enter(key: string, request: EdgeRequest, turn: Turn): Place;
  /** The key's answer turned out not to be stored: nobody waits for the next ones. */
  markUnshared(key: string, now: number): void;
}

interface Turn {
  /** How often this request has waited already. */
  readonly waits: number;
  readonly now: number;
  /** What began at or before this instant says nothing any more: the key was purged. */
  readonly absentUpTo: number;
}

interface Flight {
  readonly startedAt: number;
  readonly landed: Promise<void>;
}

export function createFlights(): Flights {
  const flights = new Map<string, Flight>();
  const unsharedSince = new Lru<string, number>({ maxWeight: MAX_UNSHARED_KEYS });

  const lead = (key: string, startedAt: number): Place => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const flight: Flight = { startedAt, landed: promise };
    flights.set(key, flight);
    const land = () => {
      if (flights.get(key) === flight) flights.delete(key);
      resolve();
    };
    return { kind: 'lead', land };
  };

  return {
    enter: (key, request, { waits, now, absentUpTo }) => {
      const unsharedAt = unsharedSince.get(key) ?? Number.NEGATIVE_INFINITY;
      const isUnshared = unsharedAt > absentUpTo && now - unsharedAt < UNSHARED_MS;
      if (!canShare(request) || isUnshared) return { kind: 'alone' };
      const flight = flights.get(key);
      const since = Math.max(absentUpTo, now - FLIGHT_MS);
      if (flight === undefined || flight.startedAt <= since) return lead(key, now);
      return waits < MAX_WAITS ? { kind: 'wait', landed: flight.landed } : { kind: 'alone' };
    },
    markUnshared: (key, now) => void unsharedSince.set(key, now),
  };
}

/** Resolves when the flight has landed, after `WAIT_MS`, or when the client is gone; true in the first case. */
export async function waitForLanding(landed: Promise<void>, signal: AbortSignal): Promise<boolean> {
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

/** A fill that the others may wait for: whole soon, as far as one can tell. */
export function isAwaited(fill: Fill | undefined): fill is Fill {
  return fill !== undefined && (fill.announcedBytes ?? 0) <= MAX_AWAITED_BYTES;
}

/** A HEAD or a range brings nothing for others, an authenticated request seldom does. */
function canShare({ facts }: EdgeRequest): boolean {
  return facts.method === 'GET' && facts.range === undefined && !facts.hasAuthorization;
}
