/**
 * The slices that a worker is fetching: one request per slice, whoever wants it. A slice that has been begun is fetched to its
 * end, whoever leaves; each viewer reads it along from its first byte, at its own pace. docs/decisions/0141
 */
import { spanBytes } from '#http/range.ts';
import { Lru } from '#lib/lru.ts';
import type { EdgeContext } from '../context.ts';
import type { LiveBody } from '../live.ts';
import type { OriginResponse } from '../origin/attempt.ts';
import { bringSlice, fetchAlone, fetchSlice, type NoSlice, type OpenedSlice, openLive } from './fetch.ts';
import { sliceKey, sliceSpan } from './layout.ts';
import { findSlice, type SlicedObject } from './object.ts';

export interface Slices {
  open(edge: EdgeContext, object: SlicedObject, slice: number): Promise<OpenedSlice>;
  /** Brings it into the store, where that takes it; holds nothing meanwhile. */
  ahead(edge: EdgeContext, object: SlicedObject, slice: number): void;
  /** What the object was discovered by. Gives what ends the hold on it that a first reader has until it opens it. */
  adopt(edge: EdgeContext, object: SlicedObject, slice: number, response: OriginResponse): () => void;
  /** The origin's answers for this key cannot be sliced: for a while it is fetched like any other object. */
  noteUnsliced(key: string, now: number): void;
  isUnsliced(key: string, now: number): boolean;
}

const UNSLICED_MS = 10_000;
const MAX_UNSLICED_KEYS = 10_000;
/** Of one reader for one slice; then it fetches it alone. */
const MAX_WAITS = 3;

type Head =
  | { readonly kind: 'live'; readonly live: LiveBody }
  /** It may not be stored, so it is for nobody else. */
  | { readonly kind: 'unshared' }
  | NoSlice;

interface Flight {
  /** At or before the instant of the request. */
  readonly startedAt: number;
  readonly head: Promise<Head>;
  readonly landed: Promise<void>;
}

export function createSlices(): Slices {
  const flights = new Map<string, Flight>();
  const unslicedSince = new Lru<string, number>({ maxWeight: MAX_UNSLICED_KEYS });

  /** One that began before the object's index may be what a purge was meant for. */
  const underWay = (key: string, { index }: SlicedObject): Flight | undefined => {
    const flight = flights.get(key);
    return flight !== undefined && flight.startedAt >= index.requestAt ? flight : undefined;
  };

  const begin = (key: string, startedAt: number) => {
    const [head, landed] = [Promise.withResolvers<Head>(), Promise.withResolvers<void>()];
    const flight: Flight = { startedAt, head: head.promise, landed: landed.promise };
    flights.set(key, flight);
    const land = () => {
      if (flights.get(key) === flight) flights.delete(key);
      landed.resolve();
    };
    return { resolve: head.resolve, landed: landed.promise, land };
  };

  const lead = async (edge: EdgeContext, object: SlicedObject, slice: number, key: string): Promise<OpenedSlice> => {
    const { resolve, landed, land } = begin(key, edge.clock());
    let head: Head = { kind: 'failed', failure: 'originReset' };
    try {
      const fetched = await fetchSlice(edge, object, slice);
      if (fetched.kind !== 'slice') {
        head = fetched;
        return fetched;
      }
      const opened = bringSlice(edge, object, slice, { ...fetched, landed, land });
      head = fetched.mayStore ? { kind: 'live', live: opened.live } : { kind: 'unshared' };
      return opened;
    } finally {
      resolve(head);
      if (head.kind !== 'live') land();
    }
  };

  const open = async (edge: EdgeContext, object: SlicedObject, slice: number): Promise<OpenedSlice> => {
    const key = sliceKey(object.visit.key, slice, object.generation);
    for (let waits = 0; waits < MAX_WAITS; waits++) {
      const flight = underWay(key, object);
      const joined = flight && (await join(edge, object, slice, flight));
      if (joined !== undefined) return joined;
      const body = await findSlice(edge.store, object, slice);
      if (body !== undefined) return { kind: 'stored', body };
      if (underWay(key, object) === undefined) return lead(edge, object, slice, key);
    }
    return fetchAlone(edge, object, slice);
  };

  return {
    open,
    ahead: (edge, object, slice) => {
      const bytes = spanBytes(sliceSpan(slice, object.totalBytes));
      if (bytes > edge.store.maxBodyBytes || edge.store.refuses(bytes) !== undefined) return;
      void open(edge, object, slice).then(
        (opened) => opened.kind === 'live' && opened.reader.leave(),
        () => undefined, // it shows where the slice is read
      );
    },
    adopt: (edge, object, slice, response) => {
      const key = sliceKey(object.visit.key, slice, object.generation);
      const { resolve, landed, land } = begin(key, response.requestAt);
      const { live, reader } = bringSlice(edge, object, slice, { response, mayStore: true, landed, land });
      resolve({ kind: 'live', live });
      return () => reader.leave();
    },
    noteUnsliced: (key, now) => void unslicedSince.set(key, now),
    isUnsliced: (key, now) => Math.abs(now - (unslicedSince.get(key) ?? Number.NEGATIVE_INFINITY)) < UNSLICED_MS,
  };
}

/** `undefined`: too late, look again. */
async function join(
  edge: EdgeContext,
  object: SlicedObject,
  slice: number,
  { head, landed }: Flight,
): Promise<OpenedSlice | undefined> {
  const known = await head;
  if (known.kind === 'unshared') return fetchAlone(edge, object, slice);
  if (known.kind !== 'live') return known;
  if (known.live.isOpen) return openLive(edge, object, slice, known.live, landed);
  await landed;
  return undefined;
}
