/** Reads the place of edges among the tiers out of an edge's file. */
import type { DatabaseSync } from 'node:sqlite';
import { type EdgeTier, TIER_KIND } from '#model/edge-tier.ts';
import type { TierSource } from '#sites/tier-source.ts';

export function prepareTierReads(database: DatabaseSync): TierSource {
  const selectTier = database.prepare(`select body from resource where kind = '${TIER_KIND}' and key = ?`);
  const selectTiers = database.prepare(`select key, body from resource where kind = '${TIER_KIND}' order by key`);
  return {
    getTier: (edge) => {
      const row = selectTier.get(edge);
      return row && toTier(row['body']);
    },
    listTiers: () => selectTiers.all().map((row) => ({ ...toTier(row['body']), edge: String(row['key']) })),
  };
}

function toTier(body: unknown): EdgeTier {
  // `as`: only what `accept.ts` has checked was stored.
  return JSON.parse(String(body)) as EdgeTier;
}
