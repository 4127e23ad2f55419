/** Where an edge reads its place among the tiers from. Synchronous: a local file's index. */
import type { EdgeTier } from '#model/edge-tier.ts';

export interface NamedTier extends EdgeTier {
  readonly edge: string;
}

export interface TierSource {
  getTier(edge: string): EdgeTier | undefined;
  listTiers(): readonly NamedTier[];
}
