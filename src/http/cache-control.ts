/** `Cache-Control` of requests and responses: the tokenizer and what each directive means. RFC 9111 §5.2 */
import { listMembers } from './headers.ts';

/** Parsed directives. Absent directives are false or `undefined`; numbers are seconds, ≥ 0. */
export interface Directives {
  readonly noStore: boolean;
  /** Unqualified only; `no-cache="f"` sets `noCacheFields`. */
  readonly noCache: boolean;
  /** Names in lower case. */
  readonly noCacheFields: readonly string[];
  /** Unqualified only; `private="f"` sets `privateFields`. */
  readonly isPrivate: boolean;
  readonly privateFields: readonly string[];
  readonly isPublic: boolean;
  readonly mustRevalidate: boolean;
  readonly proxyRevalidate: boolean;
  readonly mustUnderstand: boolean;
  readonly noTransform: boolean;
  readonly onlyIfCached: boolean;
  readonly maxAge: number | undefined;
  readonly sMaxage: number | undefined;
  readonly staleWhileRevalidate: number | undefined;
  readonly staleIfError: number | undefined;
  readonly minFresh: number | undefined;
  /** `Infinity` without an argument: any staleness. */
  readonly maxStale: number | undefined;
}

/** A member of the list: name in lower case, argument without its quotes. */
export interface Directive {
  readonly name: string;
  readonly argument: string | undefined;
}

/** Parses the values of all `Cache-Control` lines. Never fails: text that is not a directive is skipped. */
export function parseCacheControl(lines: readonly string[]): Directives {
  return readDirectives(tokenize(lines.join(',')));
}

/** Interprets a list of directives; unknown ones are ignored (RFC 9111 §5.2.3). */
export function readDirectives(list: Iterable<Directive>): Directives {
  const found: Mutable = { ...NO_DIRECTIVES, noCacheFields: [], privateFields: [] };
  for (const { name, argument } of list) apply(found, name, argument);
  return found;
}

/** Parses delta-seconds, clamped to 2^31; `undefined` if the text is invalid. RFC 9111 §1.2.2 */
export function parseDeltaSeconds(text: string): number | undefined {
  if (!/^[0-9]+$/.test(text)) return undefined;
  return Math.min(Number(text), MAX_DELTA_SECONDS);
}

export const NO_DIRECTIVES: Directives = {
  noStore: false,
  noCache: false,
  noCacheFields: [],
  isPrivate: false,
  privateFields: [],
  isPublic: false,
  mustRevalidate: false,
  proxyRevalidate: false,
  mustUnderstand: false,
  noTransform: false,
  onlyIfCached: false,
  maxAge: undefined,
  sMaxage: undefined,
  staleWhileRevalidate: undefined,
  staleIfError: undefined,
  minFresh: undefined,
  maxStale: undefined,
};

/** The maximum that RFC 9111 §1.2.2 names. */
const MAX_DELTA_SECONDS = 2 ** 31;

type Mutable = { -readonly [K in keyof Directives]: Directives[K] };

/**
 * Splits `token [ "=" ( token | quoted-string ) ]` members, with white space only around the commas. A member with
 * other text after its name gets an argument that no directive accepts, so that a malformed `max-age` means "stale".
 * Words in it that forbid storing take effect, as in `private; max-age=0`.
 */
export function tokenize(text: string): readonly Directive[] {
  const list: Directive[] = [];
  let at = 0;
  while (at < text.length) {
    MEMBER.lastIndex = at;
    const match = MEMBER.exec(text);
    if (match === null) {
      // Not a directive: skip to the next comma.
      const comma = text.indexOf(',', at);
      const end = comma === -1 ? text.length : comma;
      list.push(...forbidding(text.slice(at, end)));
      at = end + 1;
      continue;
    }
    at = MEMBER.lastIndex;
    const [whole, name = '', quoted, bare, rest = ''] = match;
    const argument = quoted === undefined ? bare : quoted.replace(/\\(.)/g, '$1');
    const directive = { name: name.toLowerCase(), argument };
    if (rest.replace(/[ \t]+/, '') === '') {
      list.push(directive);
      continue;
    }
    if (!FORBIDDING.has(directive.name)) list.push({ ...directive, argument: `${argument ?? ''}${rest}` });
    list.push(...forbidding(whole));
  }
  return list;
}

function forbidding(text: string): readonly Directive[] {
  const words = text.toLowerCase().split(/[^\w-]+/);
  return words.filter((word) => FORBIDDING.has(word)).map((name) => ({ name, argument: undefined }));
}

const FORBIDDING: ReadonlySet<string> = new Set(['no-store', 'no-cache', 'private']);

// Groups: name, quoted argument, bare argument, any text before the next comma. RFC 9110 §5.6.2, §5.6.4
const MEMBER =
  /[\s,]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+\-.^_`|~0-9A-Za-z]*)))?([^,]*),?/y;

function apply(found: Mutable, name: string, argument: string | undefined): void {
  switch (name) {
    case 'no-store':
      found.noStore = true; // RFC 9111 §5.2.1.5, §5.2.2.5
      break;
    case 'no-cache': {
      // RFC 9111 §5.2.2.4. If both forms are present, the unqualified one is stricter and takes precedence.
      const fields = fieldNames(argument);
      if (fields.length === 0) found.noCache = true;
      else found.noCacheFields = [...found.noCacheFields, ...fields];
      break;
    }
    case 'private': {
      const fields = fieldNames(argument); // RFC 9111 §5.2.2.7
      if (fields.length === 0) found.isPrivate = true;
      else found.privateFields = [...found.privateFields, ...fields];
      break;
    }
    case 'public':
      found.isPublic = true; // RFC 9111 §5.2.2.9
      break;
    case 'must-revalidate':
      found.mustRevalidate = true; // RFC 9111 §5.2.2.2
      break;
    case 'proxy-revalidate':
      found.proxyRevalidate = true; // RFC 9111 §5.2.2.8
      break;
    case 'must-understand':
      found.mustUnderstand = true; // RFC 9111 §5.2.2.3
      break;
    case 'no-transform':
      found.noTransform = true; // RFC 9111 §5.2.2.6
      break;
    case 'only-if-cached':
      found.onlyIfCached = true; // RFC 9111 §5.2.1.7
      break;
    default:
      applySeconds(found, name, argument);
  }
}

function applySeconds(found: Mutable, name: string, argument: string | undefined): void {
  // RFC 9111 §4.2.1: the first of several values counts, and an invalid one means stale.
  const seconds = argument === undefined ? 0 : (parseDeltaSeconds(argument) ?? 0);
  switch (name) {
    case 'max-age':
      found.maxAge ??= seconds; // RFC 9111 §5.2.1.1, §5.2.2.1
      break;
    case 's-maxage':
      found.sMaxage ??= seconds; // RFC 9111 §5.2.2.10
      break;
    case 'stale-while-revalidate':
      found.staleWhileRevalidate ??= seconds; // RFC 5861 §3
      break;
    case 'stale-if-error':
      found.staleIfError ??= seconds; // RFC 5861 §4
      break;
    case 'min-fresh':
      found.minFresh ??= seconds; // RFC 9111 §5.2.1.3
      break;
    case 'max-stale':
      found.maxStale ??= argument === undefined ? Number.POSITIVE_INFINITY : seconds; // RFC 9111 §5.2.1.2
      break;
  }
}

function fieldNames(argument: string | undefined): readonly string[] {
  return argument === undefined ? [] : listMembers([argument]);
}
