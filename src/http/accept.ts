/** What a client accepts of media types. RFC 9110 §12.5.1 */
import { parseWeighted } from './vary.ts';

/** The weight of `type` by the most specific range of `Accept`; 1 without the field, 0 if it is not accepted. */
export function typeWeight(accept: string | undefined, type: string): number {
  if (accept === undefined) return 1;
  const weights = new Map(parseWeighted(accept).map(({ name, weight }) => [name, weight]));
  const ranges = [type, type.replace(/\/.*/, '/*'), '*/*'];
  return ranges.map((range) => weights.get(range)).find((weight) => weight !== undefined) ?? 0;
}
