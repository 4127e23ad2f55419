/** `Vary` and the secondary cache key. RFC 9111 §4.1, RFC 9110 §12.5.5 */
import { allValues, listMembers, type RawHeaders, trimOws } from './headers.ts';
import type { CacheOptions } from './options.ts';
import { type RequestHeaders, wholeSection } from './request-fields.ts';

/**
 * Parses field names: in lower case, unique and sorted. `undefined` if there is a `*`, so that no other request ever
 * matches.
 */
export function parseVary(lines: readonly string[]): readonly string[] | undefined {
  if (lines.length === 0) return NO_FIELDS;
  const fields = new Set(listMembers(lines));
  return fields.has('*') ? undefined : [...fields].sort();
}

/**
 * Returns the request's normalized values of the fields as one string; equal strings match. An absent field differs
 * from an empty one. Values cannot contain the control characters used as separators here. The keys are stored on disk,
 * so whoever changes them raises `FORMAT_VERSION` in `edge/store/disk/format.ts`.
 */
export function secondaryKey(fields: readonly string[], headers: RequestHeaders, options: CacheOptions): string {
  if (fields.length === 0) return '';
  return fields.map((field) => normalizeValue(field, allValues(wholeSection(headers), field), options)).join(SEPARATOR);
}

/** Returns the lines of the named fields. */
export function pickFields(fields: readonly string[], headers: RequestHeaders): RawHeaders {
  return fields.flatMap((field) => allValues(wholeSection(headers), field).flatMap((value) => [field, value]));
}

/** Normalizes the lines of a field so that equivalent values are equal. RFC 9111 §4.1 */
export function normalizeValue(field: string, lines: readonly string[], options: CacheOptions): string {
  if (lines.length === 0) return ABSENT;
  const value = trimOws(lines.join(', '));
  if (field === 'accept-encoding') return normalizeEncodings(value);
  if (field === 'accept-language') return normalizeLanguages(value, options.normalizeVary);
  // Blanks around commas are irrelevant, except in quoted strings.
  return value.includes('"') ? value : value.replace(/[ \t]*,[ \t]*/g, ',');
}

/** A member of Accept-Language or Accept-Encoding: name in lower case, weight from 0 to 1. */
export interface Weighted {
  readonly name: string;
  readonly weight: number;
}

/**
 * Parses the members in order. Parameters other than `q` are dropped, and unreadable weights count as 1. RFC 9110
 * §12.4.2
 */
export function parseWeighted(value: string): readonly Weighted[] {
  const members = listMembers([value]);
  const weighted: Weighted[] = [];
  for (const member of members) {
    const end = member.indexOf(';');
    if (end === -1) weighted.push({ name: member, weight: 1 });
    else if (end > 0) weighted.push({ name: trimOws(member.slice(0, end)), weight: readWeight(member.slice(end + 1)) });
  }
  return weighted;
}

const NO_FIELDS: readonly string[] = [];
const ABSENT = '\u0000';
const SEPARATOR = '\u0001';

function normalizeEncodings(value: string): string {
  return (
    parseWeighted(value)
      // A refused coding equals an absent one, except those acceptable by default: RFC 9110 §12.5.3
      .filter(({ name, weight }) => weight > 0 || name === 'identity' || name === '*')
      .map(formatWeighted)
      .sort()
      .join(',')
  );
}

function normalizeLanguages(value: string, ignoreOrder: boolean): string {
  const languages = parseWeighted(value);
  if (!ignoreOrder) return languages.map(formatWeighted).join(',');
  // RFC 9110 §12.5.4: only the weights matter, not the order
  return languages
    .toSorted((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : Number(a.name > b.name)))
    .map(formatWeighted)
    .join(',');
}

function readWeight(parameters: string): number {
  const weight = parameters
    .split(';')
    .map(trimOws)
    .find((parameter) => /^q=(?:0|1|[01]\.\d*)$/.test(parameter));
  return weight === undefined ? 1 : Math.min(1, Number(weight.slice(2)));
}

function formatWeighted({ name, weight }: Weighted): string {
  return weight === 1 ? name : `${name};q=${weight}`;
}
