/** Slices that a worker is fetching, and keys that it does not slice for a while. */
import { Lru } from '#lib/lru.ts';
import type { OriginFailure } from '../../reasons.ts';
import type { SharedBody } from '../../store/shared-body.ts';

export type NoSlice =
  /** The origin has a different object by now, or no longer serves slices of it: the index is discarded. */
  | { readonly kind: 'changed' }
  /** A status that concerns this request only, or the origin's state: the object may be unchanged. */
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'failed'; readonly failure: OriginFailure };

export type SliceHead =
  | { readonly kind: 'shared'; readonly shared: SharedBody }
  /** The slice may not be stored, so it is not shared. */
  | { readonly kind: 'unshared' }
  | NoSlice;

export interface SliceFlight {
  /** Epoch milliseconds, no later than the request for the slice. */
  readonly startedAt: number;
  readonly head: Promise<SliceHead>;
  /** Resolves when the slice is stored or will not be. */
  readonly landed: Promise<void>;
}

/** A flight of the caller's own: `resolve` and `land` must be called in the end. */
export interface OwnFlight extends SliceFlight {
  readonly resolve: (head: SliceHead) => void;
  readonly land: () => void;
}

export interface SliceFlights {
  /**
   * Returns the flight for a slice unless it began before `since`, the time of the object's discovery: a purge may have
   * been meant for its bytes.
   */
  find(key: string, since: number): SliceFlight | undefined;
  begin(key: string, startedAt: number): OwnFlight;
  /**
   * Notes that the origin's responses for this key cannot be sliced: for `UNSLICED_MS` the object is fetched like any
   * other.
   */
  noteUnsliced(key: string, now: number): void;
  isUnsliced(key: string, now: number): boolean;
  /**
   * Notes that an object discovered at `discoveredAt` has changed. If it had changed less than `UNSLICED_MS` before,
   * and this one was discovered after that, its origins disagree: the key is not sliced for `UNSLICED_MS`.
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
