/** Content codings: the one to use for a client, and whether a client accepts an existing one. RFC 9110 §12.5.3 */
import { listMembers } from './headers.ts';
import { parseWeighted } from './vary.ts';

/**
 * Codings that the edge produces, in order of preference at equal weights: best compression for its time first.
 * docs/decisions/0120
 */
const OWN_CODINGS = ['br', 'zstd', 'gzip'] as const;

export type ContentCoding = (typeof OWN_CODINGS)[number];

/**
 * Chooses the coding for a client among `codings`, the preferred one first; `undefined` for none. `acceptEncoding`: all
 * lines joined, `undefined` without the field.
 */
export function chooseCoding(
  acceptEncoding: string | undefined,
  codings: readonly ContentCoding[] = OWN_CODINGS,
): ContentCoding | undefined {
  // Any coding would be allowed, but such clients often support none
  if (acceptEncoding === undefined) return undefined;
  const weights = readWeights(acceptEncoding);
  let chosen: ContentCoding | undefined;
  let best = 0;
  for (const coding of codings) {
    // A client that sends `*` may well not support zstd, so `*` does not select it.
    const weight = weights.get(coding) ?? (coding === 'zstd' ? 0 : weights.get('*')) ?? 0;
    if (weight <= best) continue;
    chosen = coding;
    best = weight;
  }
  return best >= (weights.get('identity') ?? 0) ? chosen : undefined;
}

/** Whether the client accepts content with this `Content-Encoding`. */
export function acceptsCodings(acceptEncoding: string | undefined, contentEncoding: string): boolean {
  if (acceptEncoding === undefined) return true;
  const weights = readWeights(acceptEncoding);
  return listMembers([contentEncoding]).every(
    (coding) => coding === 'identity' || (weights.get(canonical(coding)) ?? weights.get('*') ?? 0) > 0,
  );
}

/** Reads the weights by coding. For a coding that is listed twice, the lower weight wins: one refusal is enough. */
function readWeights(acceptEncoding: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const { name, weight } of parseWeighted(acceptEncoding)) {
    const coding = canonical(name);
    weights.set(coding, Math.min(weight, weights.get(coding) ?? 1));
  }
  return weights;
}

/** RFC 9110 §8.4.1.3 */
function canonical(coding: string): string {
  return coding === 'x-gzip' ? 'gzip' : coding;
}
