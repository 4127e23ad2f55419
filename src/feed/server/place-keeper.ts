/** Publishes where edges are, as they report it, so that name servers hand them out. */
import type { Db } from '#db/open.ts';
import { publishPlace } from '#db/tables/fleet/edge-places.ts';
import type { Clock } from '#lib/clock.ts';
import { Lru } from '#lib/lru.ts';
import type { EdgePlace, PublishedPlace } from '#model/edge-place.ts';

export interface PlaceKeeper {
  /** `place`: absent if the edge is not to be handed out. `group`: absent for an edge of control's machine. */
  note(edge: string, place: EdgePlace | undefined, group: string | undefined): Promise<void>;
}

const MAX_EDGES = 10_000;
/** What is published is read again so often: another control may have published another report meanwhile. */
const CHECK_MS = 60_000;
/** An edge that reports another place with each report is published so often: every machine hears of each change. */
const HOLD_MS = 5000;

export function createPlaceKeeper(db: Db, clock: Clock): PlaceKeeper {
  const noted = new Lru<string, { readonly text: string; readonly at: number }>({ maxWeight: MAX_EDGES });
  return {
    async note(edge, reported, group) {
      const place: PublishedPlace | undefined = reported && { ...reported, ...(group !== undefined && { group }) };
      const text = JSON.stringify(place) ?? '';
      const now = clock();
      const last = noted.get(edge);
      if (last !== undefined && Math.abs(now - last.at) < (last.text === text ? CHECK_MS : HOLD_MS)) return;
      await db.transaction((trx) => publishPlace(trx, edge, place, now));
      noted.set(edge, { text, at: now });
    },
  };
}
