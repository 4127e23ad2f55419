/**
 * Finds the directives that govern a response: a targeted field if there is one, otherwise `Cache-Control`. RFC 9213
 */
import { parseDictionary } from 'structured-headers';
import { type Directive, type Directives, parseCacheControl, readDirectives } from './cache-control.ts';
import { allValues, type RawHeaders, trimOws } from './headers.ts';

/** Our own targeted field, for this service only: never sent to clients. */
export const OWN_TARGETED_FIELD = 'causeway-cdn-cache-control';

export interface GoverningDirectives {
  readonly directives: Directives;
  /** A targeted field governs: `Cache-Control` and `Expires` are ignored. */
  readonly isTargeted: boolean;
}

/** Uses the first field of the list that is present, valid and not empty, otherwise `Cache-Control`. RFC 9213 §2.2 */
export function governingDirectives(headers: RawHeaders): GoverningDirectives {
  for (const name of TARGET_LIST) {
    const directives = parseTargeted(allValues(headers, name));
    if (directives !== undefined) return { directives, isTargeted: true };
  }
  return { directives: parseCacheControl(allValues(headers, 'cache-control')), isTargeted: false };
}

/** Parses a targeted field; `undefined` if it is absent, empty or not a Structured Field Dictionary, and so ignored. */
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

/** A directive with a value of the wrong type is ignored. RFC 9213 §2.1 */
function toDirective(name: string, value: unknown): Directive | undefined {
  if (SECONDS.has(name)) {
    // A negative value is an invalid delta, which means stale.
    return Number.isInteger(value) ? { name, argument: String(value) } : undefined;
  }
  if (value === true) return { name, argument: undefined };
  const isQualified = typeof value === 'string' && (name === 'no-cache' || name === 'private');
  return isQualified ? { name, argument: value } : undefined;
}

const SECONDS: ReadonlySet<string> = new Set(['max-age', 's-maxage', 'stale-while-revalidate', 'stale-if-error']);
