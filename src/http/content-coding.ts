/** Content codings: which one a client is given, and whether it can read one that is there already. RFC 9110 §12.5.3 */
import { listMembers } from './headers.ts';
import { parseWeighted } from './vary.ts';

/**
 * Codings that the edge makes, in order of preference at equal weights: the one with the smaller result for its time
 * first. docs/decisions/0120
 */
const OWN_CODINGS = ['br', 'zstd', 'gzip'] as const;

export type ContentCoding = (typeof OWN_CODINGS)[number];

/** `acceptEncoding`: all lines joined, `undefined` without the field. `undefined`: the content as it is. */
export function chooseCoding(acceptEncoding: string | undefined): ContentCoding | undefined {
  if (acceptEncoding === undefined) return undefined; // anything would do, but such clients often read nothing else
  const weights = readWeights(acceptEncoding);
  let chosen: ContentCoding | undefined;
  let best = 0;
  for (const coding of OWN_CODINGS) {
    // A client that says `*` and has never heard of the youngest is likelier than one that means it.
    const weight = weights.get(coding) ?? (coding === 'zstd' ? 0 : weights.get('*')) ?? 0;
    if (weight <= best) continue;
    chosen = coding;
    best = weight;
  }
  return best >= (weights.get('identity') ?? 0) ? chosen : undefined;
}

/** Whether the client can read what has this `Content-Encoding`. */
export function acceptsCodings(acceptEncoding: string | undefined, contentEncoding: string): boolean {
  if (acceptEncoding === undefined) return true;
  const weights = readWeights(acceptEncoding);
  return listMembers([contentEncoding]).every(
    (coding) => coding === 'identity' || (weights.get(canonical(coding)) ?? weights.get('*') ?? 0) > 0,
  );
}

/** The lower weight wins for a coding that is named twice: one refusal is enough. */
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
