/** The messages about log parts that edges store themselves. Pure. docs/decisions/0744 */
import { isInstant } from '#lib/instant.ts';
import { isCount } from '#lib/is-count.ts';
import { parseObject } from '#lib/parse-object.ts';
import {
  formatPartKey,
  type LogPart,
  MAX_PART_BYTES,
  type PartKey,
  parsePartKey,
  readTopLists,
  type Top,
} from './report.ts';

/** A part for which an edge asks for a place. */
export interface WantedPart {
  readonly key: PartKey;
  readonly firstAt: number;
  /** Size of its bytes, and their SHA-256, hex. */
  readonly bytes: number;
  readonly sha256: string;
}

/** A part whose bytes are stored. */
export interface StoredLogPart extends Omit<LogPart, 'gzip'> {
  readonly bytes: number;
}

/** Answer about a part: control has it, or it is to be put to this address with these header fields. */
export type PartPlace =
  | { readonly key: string; readonly have: true }
  | { readonly key: string; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** Parts in one message. */
export const MAX_PARTS_AT_ONCE = 100;
/** Limit of a message: a part has at most 400 values of 512 characters. */
export const MAX_UPLOAD_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_URL_CHARS = 4_096;

export function formatWanted(parts: readonly WantedPart[]): string {
  return JSON.stringify({ parts: parts.map(({ key, ...part }) => ({ key: formatPartKey(key), ...part })) });
}

export function formatStored(parts: readonly StoredLogPart[]): string {
  return JSON.stringify({ parts: parts.map(({ key, ...part }) => ({ key: formatPartKey(key), ...part })) });
}

/** Returns `undefined` if it is not such a message. */
export function parseWanted(text: string): readonly WantedPart[] | undefined {
  return readParts(text, ({ key: name, firstAt, bytes, sha256 }) => {
    const key = typeof name === 'string' ? parsePartKey(name) : undefined;
    const isHash = typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256);
    if (key === undefined || !isInstant(firstAt) || !isCount(bytes, MAX_PART_BYTES) || !isHash) return undefined;
    return { key, firstAt, bytes, sha256 };
  });
}

/** Returns `undefined` if it is not such a message. */
export function parseStored(text: string): readonly StoredLogPart[] | undefined {
  return readParts(text, ({ key: name, firstAt, bytes, lines, top: lists }) => {
    const key = typeof name === 'string' ? parsePartKey(name) : undefined;
    const top: Top | undefined = readTopLists(lists);
    if (key === undefined || top === undefined || !isInstant(firstAt)) return undefined;
    return isCount(bytes, MAX_PART_BYTES) && isCount(lines) ? { key, firstAt, bytes, lines, top } : undefined;
  });
}

/** Parses the answer with places; `undefined` if it is not one. */
export function parsePlaces(text: string): readonly PartPlace[] | undefined {
  const { places } = parseObject(text) ?? {};
  if (!Array.isArray(places)) return undefined;
  const read = places.map(readPlace).filter((place) => place !== undefined);
  return read.length === places.length ? read : undefined;
}

/** Parses the answer with the keys of parts that are stored; `undefined` if it is not one. */
export function parseStoredKeys(text: string): readonly string[] | undefined {
  const { stored } = parseObject(text) ?? {};
  return Array.isArray(stored) && stored.every((key) => typeof key === 'string') ? stored : undefined;
}

function readParts<Part>(
  text: string,
  read: (members: Readonly<Record<string, unknown>>) => Part | undefined,
): readonly Part[] | undefined {
  const { parts } = parseObject(text) ?? {};
  if (!Array.isArray(parts) || parts.length > MAX_PARTS_AT_ONCE) return undefined;
  const all = parts.map((part: unknown) => read(Object(part))).filter((part) => part !== undefined);
  return all.length === parts.length ? all : undefined;
}

function readPlace(value: unknown): PartPlace | undefined {
  const { key, have, url, headers } = Object(value) as Readonly<Record<string, unknown>>; // `as`: each is looked at
  if (typeof key !== 'string') return undefined;
  if (have === true) return { key, have };
  const isUrl = typeof url === 'string' && url.length <= MAX_URL_CHARS && /^https?:\/\//.test(url);
  const fields = Object.entries(Object(headers));
  if (!isUrl || !fields.every(([, field]) => typeof field === 'string')) return undefined;
  return { key, url, headers: Object.fromEntries(fields) as Record<string, string> };
}
