/** The slices that a worker is fetching, and the keys that it does not slice for a while. */
import { Lru } from '#lib/lru.ts';
import type { OriginFailure } from '../../reasons.ts';
import type { SharedBody } from '../../store/shared-body.ts';

export type NoSlice =
  /** The origin has another object by now, or gives none of its slices: the index is discarded. */
  | { readonly kind: 'changed' }
  /** A status that speaks of this request, or of the origin's state: the object may well be as it was. */
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'failed'; readonly failure: OriginFailure };

export type SliceHead =
  | { readonly kind: 'shared'; readonly shared: SharedBody }
  /** The slice may not be stored, so it is not shared. */
  | { readonly kind: 'unshared' }
  | NoSlice;

export interface SliceFlight {
  /** Instant at or before that of the request. */
  readonly startedAt: number;
  readonly head: Promise<SliceHead>;
  /** Resolves when the slice is stored, or will not be. */
  readonly landed: Promise<void>;
}

/** `resolve` and `land` must be called in the end. */
export interface OwnFlight extends SliceFlight {
  readonly resolve: (head: SliceHead) => void;
  readonly land: () => void;
}

export interface SliceFlights {
  /** One that began before `since`, when the object was discovered, may be what a purge was meant for. */
  find(key: string, since: number): SliceFlight | undefined;
  begin(key: string, startedAt: number): OwnFlight;
  /** The origin's answers for this key cannot be sliced: for a while it is fetched like any other object. */
  noteUnsliced(key: string, now: number): void;
  isUnsliced(key: string, now: number): boolean;
  /**
   * An object that was discovered at that instant turned out to be another. When the one before it did so too, just now, its
   * origins do not agree: it is not sliced for a while.
   */
  noteChanged(key: string, discoveredAt: number, now: number): void;
}

const UNSLICED_MS = 60_000;
const MAX_NOTED_KEYS = 10_000;

export function createSliceFlights(): SliceFlights {
  const flights = new Map<string, SliceFlight>();
  const unslicedSince = new Lru<string, number>({ maxWeight: MAX_NOTED_KEYS });
  const changedAt = new Lru<string, number>({ maxWeight: MAX_NOTED_KEYS });
  const isRecent = (instant: number | undefined, now: number) => {
    return instant !== undefined && Math.abs(now - instant) < UNSLICED_MS;
  };
  return {
    find: (key, since) => {
      const flight = flights.get(key);
      return flight !== undefined && flight.startedAt >= since ? flight : undefined;
    },
    begin: (key, startedAt) => {
      const [head, landed] = [Promise.withResolvers<SliceHead>(), Promise.withResolvers<void>()];
      const land = () => {
        if (flights.get(key) === flight) flights.delete(key);
        landed.resolve();
      };
      const flight: OwnFlight = { startedAt, head: head.promise, landed: landed.promise, resolve: head.resolve, land };
      flights.set(key, flight);
      return flight;
    },
    noteUnsliced: (key, now) => void unslicedSince.set(key, now),
    isUnsliced: (key, now) => isRecent(unslicedSince.get(key), now),
    noteChanged: (key, discoveredAt, now) => {
      const before = changedAt.get(key);
      if (isRecent(before, now) && discoveredAt >= (before ?? now)) unslicedSince.set(key, now);
      changedAt.set(key, now);
    },
  };
}
