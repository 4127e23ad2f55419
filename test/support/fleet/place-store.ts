/**
 * The store of an edge that keeps its position and its rejections, but no settings: a thousand edges on one machine
 * would otherwise be a test of its disk.
 */
import type { EdgeStore } from '#feed/store/edge-store.ts';
import type { Rejection } from '#model/edge.ts';
import type { FeedPosition } from '#model/feed-position.ts';

/** `view`: id of the view that it has. */
export function createPlaceStore(at: FeedPosition, view: string): EdgeStore {
  let place = at;
  let ownView: string | undefined = view;
  let rejections: readonly Rejection[] = [];
  return {
    head: () => place,
    get routing(): never {
      throw new Error('this edge has no name server');
    },
    view: () => ownView,
    announcedControls: () => [],
    fleetId: () => undefined,
    countSites: () => 0,
    getSpec: () => undefined,
    purgesOf: () => [],
    getCertificate: () => undefined,
    getAddressList: () => undefined,
    urlKeysOf: () => [],
    ordersOf: () => undefined,
    listSinks: () => new Map(),
    listRejections: (limit) => rejections.slice(0, limit),
    countRejections: () => rejections.length,
    isWithheld: () => false,
    hasWithheld: () => false,
    applyDelta(to, changes) {
      place = { ...place, ...to };
      rejections = [
        ...rejections,
        ...changes.flatMap((change) => (change.kind === 'reject' ? toRejection(change) : [])),
      ];
    },
    stageSnapshot: () => ({
      add() {},
      commit({ epoch, revision, tag, view: given }) {
        place = { epoch, revision, tag };
        ownView = given;
      },
      [Symbol.dispose]() {},
    }),
    prefetches: { listPending: () => [], save() {}, listUnreported: () => [], markReported() {} },
    repair: () => false,
    [Symbol.dispose]() {},
  };
}

function toRejection({
  resource,
  key,
  revision,
  error,
}: Record<'resource' | 'key' | 'error', string> & { revision: number }): Rejection {
  return { kind: resource, key, revision, error };
}
