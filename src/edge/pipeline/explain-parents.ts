/** Says which edges a request would be fetched through, the best first. */
import type { RankedParent } from '../origin/parents/tiered-origins.ts';

export function describeParents(ranked: readonly RankedParent[]): string {
  return ranked
    .map(({ edge, isOut }, index) => `${index + 1}. ${edge}${isOut ? ' (out: it has failed of late)' : ''}`)
    .join(', ');
}
