/** The path of a cache key: spellings of one path that RFC 3986 calls equivalent become one. */

/** What a cache key has of a target. */
export interface KeyTarget {
  /** Normalized; `*` for the whole server. */
  readonly keyPath: string;
  /** Query from the question mark on, inclusive; empty without one. As written: its order and case matter. */
  readonly query: string;
}

/** Splits an origin-form target, or `*`. */
export function splitTarget(target: string): KeyTarget {
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  return { keyPath: normalizePath(path), query: mark === -1 ? '' : target.slice(mark) };
}

/**
 * Unreserved characters decoded, other percent-encodings upper-case, dot segments resolved (never above the root);
 * double slashes, `%2F`, case and a trailing slash stay. Expects an absolute path with well-formed percent-encodings.
 * Applying it again changes nothing.
 */
export function normalizePath(path: string): string {
  const decoded = path.includes('%') || HIGH_BYTE.test(path) ? normalizeEscapes(path) : path;
  return decoded.includes('/.') ? resolveDots(decoded) : decoded;
}

/**
 * Whether a target's path holds `.` or `..` segments, also percent-encoded or between what some origins take for slashes:
 * an origin may not resolve them as the key does. docs/decisions/0032, 0166
 */
export function hasDotSegments(target: string): boolean {
  return /^[^?]*?(?:[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\?]|%2f|%5c|$)/i.test(target);
}

/**
 * A key's path as it is to origins that decode it and then merge slashes, such as nginx, or take backslashes for them; in
 * the spelling of keys. `undefined`: the same to all. docs/decisions/0166
 */
export function pathAtOrigin(keyPath: string): string | undefined {
  if (!READ_OTHERWISE.test(keyPath)) return undefined;
  return keyPath
    .replace(ENCODED_SIGN, (sign) => String.fromCharCode(Number.parseInt(sign.slice(1), 16)))
    .replace(/[/\\]+/g, '/');
}

// Visible ASCII, but what a path cannot have as it is: # % ?
const ENCODED_SIGN = /%(?!2[035]|3F|7F)[2-7][0-9A-F]/g;
const READ_OTHERWISE = new RegExp(`//|\\\\|${ENCODED_SIGN.source}`);

// A raw byte beyond ASCII, one latin1 character, is the same as its percent-encoding.
const HIGH_BYTE = /[\x80-\xff]/;
const ESCAPES = /%([0-9A-Fa-f]{2})|[\x80-\xff]/g;

/** RFC 3986 §6.2.2.1, §6.2.2.2 */
function normalizeEscapes(path: string): string {
  return path.replace(ESCAPES, (match, hex: string | undefined) => {
    if (hex === undefined) return `%${match.charCodeAt(0).toString(16).toUpperCase()}`;
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : `%${hex.toUpperCase()}`;
  });
}

/** RFC 3986 §5.2.4, §6.2.2.3 */
function resolveDots(path: string): string {
  const segments = path.split('/');
  const last = segments.at(-1);
  const resolved: string[] = [];
  for (const segment of segments.slice(1)) {
    if (segment === '..') resolved.pop();
    else if (segment !== '.') resolved.push(segment);
  }
  // A dot segment at the end leaves a folder.
  if (last === '.' || last === '..') resolved.push('');
  return `/${resolved.join('/')}`;
}
