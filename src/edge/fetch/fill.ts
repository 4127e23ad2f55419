/**
 * Stores an admitted response: its body is gathered, and the response enters the store at the end of the body unless it
 * was purged meanwhile.
 */
import type { Stored } from '#http/stored.ts';
import type { EdgeContext, Visit } from '../context.ts';
import type { Fill } from '../respond/edge-answer.ts';
import { absentUpTo } from '../stages/absence.ts';
import { Holds } from '../store/holds.ts';
import type { CachedResponse } from '../store/store.ts';
import { joinParts } from './partial-response.ts';

export interface FillInput {
  /** Head to store, once the body is complete. */
  readonly stored: Stored;
  /** Required size of the body; `undefined` if only its framing shows where it ends. */
  readonly bodyBytes: number | undefined;
  /**
   * Epoch milliseconds of the request for its oldest bytes. A purge at or after that instant keeps the response out.
   */
  readonly requestedAt: number;
}

export function openFill(edge: EdgeContext, visit: Visit, { stored, bodyBytes, requestedAt }: FillInput): Fill {
  return {
    writer: edge.store.openWriter(bodyBytes),
    announcedBytes: bodyBytes,
    onWhole: (body) => {
      if (requestedAt <= absentUpTo(edge.sites, visit, undefined, edge.clock())) return;
      if (stored.range === undefined) edge.store.put(visit.key, { ...stored, body }, visit.options);
      else void putPart(edge, visit, { ...stored, body }); // never rejects
    },
  };
}

/** Stores a part, joined with a stored part if the two touch. */
async function putPart(edge: EdgeContext, visit: Visit, part: CachedResponse): Promise<void> {
  const { store, clock, sites, log } = edge;
  using holds = new Holds();
  holds.hold(part.body);
  try {
    const entry = await store.find(visit.key);
    const since = absentUpTo(sites, visit, entry, clock());
    const present = entry?.variants.filter(({ requestAt }) => requestAt > since) ?? [];
    const joined = await joinParts(store, present, part, holds);
    if (joined === undefined) store.put(visit.key, part, visit.options);
    else if (joined.requestAt > absentUpTo(sites, visit, undefined, clock())) {
      store.put(visit.key, joined, visit.options);
    }
  } catch (error) {
    log.error({ err: error, key: visit.key }, 'cannot store a partial response');
  }
}
