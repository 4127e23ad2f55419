/** The way of an admitted response into the store: its body is gathered, and at its end it enters unless it was purged. */
import type { Stored } from '#http/stored.ts';
import type { EdgeContext, Visit } from '../context.ts';
import type { Fill } from '../respond/edge-answer.ts';
import { absentUpTo } from '../stages/absence.ts';
import { Holds } from '../store/holds.ts';
import type { CachedResponse } from '../store/store.ts';
import { joinParts } from './partial-response.ts';

export interface FillInput {
  /** What enters, once its body is there. */
  readonly stored: Stored;
  /** How long the body must be; `undefined`: its framing alone tells. */
  readonly bodyBytes: number | undefined;
  /** When its oldest bytes were requested; a purge after that instant keeps it out. */
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

/** Together with the part that is stored, where the two touch. */
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
