/** The stored responses under one primary key: selection for a request, and insertion. RFC 9111 §4.1 */
import { joinedValue, trimOws } from './headers.ts';
import type { CacheOptions } from './options.ts';
import type { RequestFacts, Stored } from './stored.ts';
import { parseWeighted, secondaryKey } from './vary.ts';

/** Most recently stored first; no two have the same fields and key. */
export type Variants<T extends Stored = Stored> = readonly T[];

/**
 * Returns the variant for this request; of several, the one with the latest `Date`. The caller excludes purged ones.
 */
export function selectVariant<T extends Stored>(
  variants: Variants<T>,
  request: RequestFacts,
  options: CacheOptions,
): T | undefined {
  let selected: T | undefined;
  let fields: readonly string[] | undefined;
  let key = '';
  for (const variant of variants) {
    if (fields === undefined || !isSameList(fields, variant.vary)) {
      fields = variant.vary;
      // Computing the fields may be expensive, so only if needed.
      key = fields.length === 0 ? '' : secondaryKey(fields, request.sentHeaders(), options);
    }
    // RFC 9111 §4.1: the most recent matching response
    if (variant.varyKey === key && (selected === undefined || variant.dateAt > selected.dateAt)) selected = variant;
  }
  if (selected === undefined && options.matchLanguage) {
    return variants.find((variant) => isInPreferredLanguage(variant, request, options));
  }
  return selected;
}

export interface VariantChange<T extends Stored> {
  readonly variants: Variants<T>;
  /** Variants that left the list or were not added. */
  readonly removed: readonly T[];
}

/**
 * Puts a variant first, replacing the one with the same fields and key; beyond `maxVariants` the oldest are removed. A
 * part that was in flight when the complete response arrived does not replace it.
 */
export function putVariant<T extends Stored>(variants: Variants<T>, added: T, options: CacheOptions): VariantChange<T> {
  const kept: T[] = [added];
  const removed: T[] = [];
  for (const variant of variants) {
    const isReplaced = variant.varyKey === added.varyKey && isSameList(variant.vary, added.vary);
    if (isReplaced && isLatePart(added, variant)) return { variants, removed: [added] };
    if (isReplaced || kept.length >= options.maxVariants) removed.push(variant);
    else kept.push(variant);
  }
  return { variants: kept, removed };
}

function isLatePart(added: Stored, present: Stored): boolean {
  return added.range !== undefined && present.range === undefined && present.responseAt >= added.requestAt;
}

/** Returns the variants whose tags may be offered if none matches: a 304 may confirm one of them. RFC 9111 §4.3.1 */
export function taggedVariants<T extends Stored>(variants: Variants<T>): readonly T[] {
  return variants.filter(({ etag, range, status, isInvalid }) => {
    return etag !== undefined && range === undefined && status === 200 && !isInvalid;
  });
}

/**
 * Whether the client's single preferred language is the stored one, and all other fields of Vary match. RFC 9110
 * §12.5.4
 */
function isInPreferredLanguage(variant: Stored, request: RequestFacts, options: CacheOptions): boolean {
  if (!variant.vary.includes('accept-language')) return false;
  const language = trimOws(joinedValue(variant.headers, 'content-language') ?? '').toLowerCase();
  const accepted = parseWeighted(joinedValue(request.sentHeaders(), 'accept-language') ?? '');
  const [best, next] = accepted.toSorted((a, b) => b.weight - a.weight);
  if (best === undefined || best.name !== language || best.weight === 0 || best.weight === next?.weight) return false;
  const others = variant.vary.filter((field) => field !== 'accept-language');
  return secondaryKey(others, request.sentHeaders(), options) === secondaryKey(others, variant.varyHeaders, options);
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((field, index) => field === b[index]));
}
