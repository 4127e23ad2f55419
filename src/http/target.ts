/** Normalizes the path of a cache key: spellings that RFC 3986 considers equivalent become equal. */

/** The parts of a target in a cache key. */
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
 * Decodes unreserved characters, converts other percent-encodings to upper case, and resolves dot segments (never above
 * the root). Double slashes, `%2F`, case and a trailing slash are kept. Expects an absolute path with well-formed
 * percent-encodings. Idempotent.
 */
export function normalizePath(path: string): string {
  const decoded = path.includes('%') || HIGH_BYTE.test(path) ? normalizeEscapes(path) : path;
  return decoded.includes('/.') ? resolveDots(decoded) : decoded;
}

/**
 * Whether a target's path contains `.` or `..` segments, also percent-encoded or between characters that some origins
 * treat as slashes: an origin may not resolve them as the key does. docs/decisions/0032, 0166
 */
export function hasDotSegments(target: string): boolean {
  return /^[^?]*?(?:[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\?]|%2f|%5c|$)/i.test(target);
}

/**
 * Returns a key's path as read by origins that decode it and then merge slashes, such as nginx, or treat backslashes as
 * slashes; spelled like keys. `undefined` if all origins read it alike. docs/decisions/0166
 */
export function pathAtOrigin(keyPath: string): string | undefined {
  if (!READ_OTHERWISE.test(keyPath)) return undefined;
  return keyPath
    .replace(ENCODED_SIGN, (sign) => String.fromCharCode(Number.parseInt(sign.slice(1), 16)))
    .replace(/[/\\]+/g, '/');
}

// Visible ASCII, except for characters that a path must encode: # % ?
const ENCODED_SIGN = /%(?!2[035]|3F|7F)[2-7][0-9A-F]/g;
const READ_OTHERWISE = new RegExp(`//|\\\\|${ENCODED_SIGN.source}`);

// A raw byte beyond ASCII, one Latin-1 character, is equivalent to its percent-encoding.
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
  // A trailing dot segment leaves a trailing slash.
  if (last === '.' || last === '..') resolved.push('');
  return `/${resolved.join('/')}`;
}
