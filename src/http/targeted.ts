/** Which directives govern a response: a targeted field where there is one, else `Cache-Control`. RFC 9213 */
import { parseDictionary } from 'structured-headers';
import { type Directive, type Directives, parseCacheControl, readDirectives } from './cache-control.ts';
import { allValues, type RawHeaders, trimOws } from './headers.ts';

/** Our own targeted field: for this service alone, so it is never sent to a client. */
export const OWN_TARGETED_FIELD = 'causeway-cdn-cache-control';

export interface GoverningDirectives {
  readonly directives: Directives;
  /** A targeted field rules: `Cache-Control` and `Expires` count for nothing. */
  readonly isTargeted: boolean;
}

/** RFC 9213 §2.2: the first field of the list that is present, valid and not empty, else `Cache-Control`. */
export function governingDirectives(headers: RawHeaders): GoverningDirectives {
  for (const name of TARGET_LIST) {
    const directives = parseTargeted(allValues(headers, name));
    if (directives !== undefined) return { directives, isTargeted: true };
  }
  return { directives: parseCacheControl(allValues(headers, 'cache-control')), isTargeted: false };
}

/** `undefined`: absent, empty, or not a Structured Field Dictionary, in which case it is as good as absent. */
export function parseTargeted(lines: readonly string[]): Directives | undefined {
  const text = lines.length === 0 ? '' : trimOws(lines.join(','));
  if (text === '') return undefined;
  const list: Directive[] = [];
  try {
    for (const [name, [value]] of parseDictionary(text)) {
      const directive = toDirective(name, value);
      if (directive !== undefined) list.push(directive);
    }
  } catch {
    return undefined; // RFC 9213 §2.1: a field that cannot be parsed is ignored
  }
  return readDirectives(list);
}

/** Most specific first. RFC 9213 §3.1 */
const TARGET_LIST = [OWN_TARGETED_FIELD, 'cdn-cache-control'] as const;

/** RFC 9213 §2.1: a value of a type that the directive does not have makes it ignored. */
function toDirective(name: string, value: unknown): Directive | undefined {
  if (SECONDS.has(name)) {
    // Negative is an invalid delta, which means stale.
    return Number.isInteger(value) ? { name, argument: String(value) } : undefined;
  }
  if (value === true) return { name, argument: undefined };
  const isQualified = typeof value === 'string' && (name === 'no-cache' || name === 'private');
  return isQualified ? { name, argument: value } : undefined;
}

const SECONDS: ReadonlySet<string> = new Set(['max-age', 's-maxage', 'stale-while-revalidate', 'stale-if-error']);
