/** Header sections as flat lists, as received, and the removal of hop-by-hop fields. */
import { FieldNames } from './field-names.ts';
import { type RequestFieldName, type RequestHeaders, wholeSection } from './request-fields.ts';

/**
 * `[name, value, name, value, …]`: order, case and duplicates are kept, one Latin-1 character per byte, like
 * node:http's `rawHeaders`. Every `name` argument in this file is in lower case.
 */
export type RawHeaders = readonly string[];

/** Returns the value of the first line of a field. */
export function firstValue(headers: RawHeaders, name: string): string | undefined;
export function firstValue(headers: RequestHeaders, name: RequestFieldName): string | undefined;
export function firstValue(headers: RequestHeaders, name: string): string | undefined {
  const lines = wholeSection(headers);
  for (let i = 0; i < lines.length; i += 2) {
    if (isNamed(lines[i], name)) return lines[i + 1];
  }
  return undefined;
}

/** Returns the values of all lines, in order; empty if the field is absent. */
export function allValues(headers: RawHeaders, name: string): readonly string[];
export function allValues(headers: RequestHeaders, name: RequestFieldName): readonly string[];
export function allValues(headers: RequestHeaders, name: string): readonly string[] {
  const lines = wholeSection(headers);
  if (!hasField(lines, name)) return NONE;
  const values: string[] = [];
  for (let i = 0; i < lines.length; i += 2) {
    if (isNamed(lines[i], name)) values.push(lines[i + 1] ?? '');
  }
  return values;
}

/** Joins all lines to one list value; `undefined` if the field is absent. RFC 9110 §5.3 */
export function joinedValue(headers: RawHeaders, name: string): string | undefined;
export function joinedValue(headers: RequestHeaders, name: RequestFieldName): string | undefined;
export function joinedValue(headers: RequestHeaders, name: string): string | undefined {
  const values = allValues(wholeSection(headers), name);
  return values.length === 0 ? undefined : values.join(', ');
}

/** Joins all lines and one more member to one list value. */
export function joinedWith(headers: RawHeaders, name: string, member: string): string;
export function joinedWith(headers: RequestHeaders, name: RequestFieldName, member: string): string;
export function joinedWith(headers: RequestHeaders, name: string, member: string): string {
  const values = joinedValue(wholeSection(headers), name);
  return values === undefined ? member : `${values}, ${member}`;
}

export function hasField(headers: RawHeaders, name: string): boolean;
export function hasField(headers: RequestHeaders, name: RequestFieldName): boolean;
export function hasField(headers: RequestHeaders, name: string): boolean {
  return firstValue(wholeSection(headers), name) !== undefined;
}

/** Returns the list without the named fields; the same list if it has none of them. */
export function withoutFields(headers: RawHeaders, names: Pick<FieldNames, 'has'>): RawHeaders {
  let at = 0;
  while (at < headers.length && !names.has(headers[at] ?? '')) at += 2;
  if (at >= headers.length) return headers;
  const kept = headers.slice(0, at);
  for (let i = at + 2; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    if (!names.has(name)) kept.push(name, headers[i + 1] ?? '');
  }
  return kept;
}

/** Replaces all lines of the field with one line at the end. */
export function withField(headers: RawHeaders, name: string, value: string): RawHeaders {
  const lower = name.toLowerCase();
  return [...withoutFields(headers, { has: (candidate) => isNamed(candidate, lower) }), name, value];
}

/**
 * Returns the fields for the next hop or the store: without hop-by-hop fields and without fields that `Connection`
 * lists. For requests and responses. `alsoDrop` saves a second pass.
 */
export function withoutHopByHop(headers: RawHeaders, alsoDrop: Pick<FieldNames, 'has'> = NO_NAMES): RawHeaders {
  const listed = connectionOptions(headers);
  // RFC 9110 §7.6.1, RFC 9111 §3.1
  return withoutFields(headers, {
    has: (name) => HOP_BY_HOP.has(name) || alsoDrop.has(name) || listed.has(name),
  });
}

/** Whether a field applies to one connection only. */
export function isHopByHop(name: string): boolean {
  return HOP_BY_HOP.has(name);
}

/**
 * Splits comma-separated lists without quoted strings. Members are trimmed and in lower case; empty ones are dropped.
 */
export function listMembers(lines: readonly string[]): readonly string[] {
  const members: string[] = [];
  for (const line of lines) {
    for (const part of line.split(',')) {
      // RFC 9110 §5.6.1: recipients ignore empty members
      const member = trimOws(part);
      if (member !== '') members.push(member.toLowerCase());
    }
  }
  return members;
}

/**
 * Trims optional white space, SP and HTAB only: `trim` would also remove the no-break space of Latin-1. RFC 9110 §5.6.3
 */
export function trimOws(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isOws(text.charCodeAt(start))) start++;
  while (end > start && isOws(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/**
 * Hop-by-hop fields: RFC 9110 §7.6.1. `Proxy-` fields apply to one hop too (§11.7), as do framing and its companions.
 */
const HOP_BY_HOP = new FieldNames([
  'connection',
  'http2-settings', // RFC 7540 §3.2.1
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const NONE: readonly string[] = [];
const NO_NAMES = new FieldNames([]);

function connectionOptions(headers: RawHeaders): FieldNames {
  const lines = allValues(headers, 'connection');
  const [line] = lines;
  if (line === undefined) return NO_NAMES;
  // The usual values.
  if (lines.length === 1 && line === 'keep-alive') return KEEP_ALIVE;
  if (lines.length === 1 && line === 'close') return CLOSE;
  return new FieldNames(listMembers(lines));
}

const KEEP_ALIVE = new FieldNames(['keep-alive']);
const CLOSE = new FieldNames(['close']);

function isNamed(candidate: string | undefined, name: string): boolean {
  return candidate !== undefined && candidate.length === name.length && candidate.toLowerCase() === name;
}

function isOws(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
