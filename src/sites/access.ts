/** Compiled access rules: which clients are refused, and how. Edge rule 6 */
import type { RequestFieldName } from '#http/request-fields.ts';
import { type DenyList, type DenyMember, eachDenyList } from '#model/domain.ts';
import { MAX_ACCESS_ENTRIES, MAX_PAGE_BYTES } from '#model/limits.ts';
import { type ParsedEntry, parseAddressEntry } from './address-list.ts';
import type { CompileTools } from './compile-tools.ts';
import { ListedAddresses } from './listed-addresses.ts';
import { expected, readObject, readOneOf, readText, SpecProblem } from './members.ts';
import { parseObjectUrl } from './object-url.ts';
import { PackedAddresses } from './packed-addresses.ts';
import { RefererList } from './referer.ts';
import type { Signature } from './signature.ts';
import type { RefusalSpec } from './spec.ts';
import { parseUserAgentEntry, UserAgentList } from './user-agent.ts';

/** What a rule looks at: the client's address, or the first line of a field of the request. */
export type Subject = 'address' | RequestFieldName;

/** A compiled rule. */
interface AccessRule {
  /** Whether clients with this value are refused; `undefined` if the request has no such field. */
  denies(value: string | undefined): boolean;
}

interface DenyRow {
  readonly subject: Subject;
  /** Why a client on the list is refused; the word for it is the list's name. */
  readonly means: string;
  /** Reads an entry as the customer wrote it. */
  readonly parse: (text: string) => ParsedEntry;
  /** Throws `RangeError` for an entry that `parse` did not return. */
  readonly compile: (entries: readonly string[], tools: CompileTools) => AccessRule;
}

/** How the lists of the model are read, compiled and checked. docs/decisions/0534 */
const LISTS: Readonly<Record<DenyList, DenyRow>> = {
  userAgent: {
    subject: 'user-agent',
    means: "the User-Agent is on the site's list",
    parse: parseUserAgentEntry,
    compile: (entries, { readUserAgent }) => new UserAgentList(entries, readUserAgent),
  },
  ip: {
    subject: 'address',
    means: "the client's address is on the site's list",
    parse: parseAddressEntry,
    compile: (entries, { addressUnits }) => new PackedAddresses(entries, addressUnits),
  },
};

/** The same, with the reason of a refusal, and the member of specification and compiled site. */
export const DENY_RULES = eachDenyList((list, member) => ({ ...LISTS[list], reason: list, member }));

/** What each reason means. */
export const DENY_REASONS = eachDenyList((list) => LISTS[list].means);

export type DeniedAccess = { readonly [M in DenyMember]?: AccessRule };

/** Each absent where the site has no such rule. */
export interface SiteAccess extends DeniedAccess {
  readonly deniedLists?: ListedAddresses;
  readonly allowedLists?: ListedAddresses;
  readonly referers?: RefererList;
  readonly refusal?: SiteRefusal;
}

type SiteRefusal =
  | Extract<RefusalSpec, { kind: 'page' }>
  | {
      readonly kind: 'redirect';
      readonly url: string;
      /**
       * The same as host, path and query of the cache key: never refused, or a client would be sent round in circles.
       */
      readonly target: string;
    };

/** Throws `SpecProblem`. */
export function readAccess(value: unknown, tools: CompileTools): SiteAccess {
  const members = readObject('access', value);
  const { referer, refusal, deniedLists, allowedLists } = members;
  return {
    ...readDenied(members, tools),
    ...(deniedLists !== undefined && { deniedLists: readLists('deniedLists', deniedLists, tools) }),
    ...(allowedLists !== undefined && { allowedLists: readLists('allowedLists', allowedLists, tools) }),
    ...(referer !== undefined && { referers: readReferer(referer, tools.signature) }),
    ...(refusal !== undefined && { refusal: readRefusal(refusal) }),
  };
}

function readDenied(members: Readonly<Record<string, unknown>>, tools: CompileTools): DeniedAccess {
  const lists = Object.values(DENY_RULES).flatMap(({ member, compile }) => {
    const { [member]: value } = members;
    if (value === undefined) return [];
    return [[member, compileList(`access.${member}`, value, (entries) => compile(entries, tools))]];
  });
  return Object.fromEntries(lists) as DeniedAccess; // fromEntries forgets the names
}

function readLists(member: 'deniedLists' | 'allowedLists', value: unknown, tools: CompileTools): ListedAddresses {
  return compileList(`access.${member}`, value, (keys) => new ListedAddresses(keys, member === 'deniedLists', tools));
}

function readReferer(value: unknown, signature: Signature): RefererList {
  const members = readObject('access.referer', value);
  const mode = readOneOf('access.referer.mode', members['mode'], ['deny', 'allow']);
  const allowsBlank = readOneOf('access.referer.allowsBlank', members['allowsBlank'], [true, false]);
  return compileList(
    'access.referer.entries',
    members['entries'],
    (entries) => new RefererList({ mode, allowsBlank, entries }, signature),
  );
}

function readRefusal(value: unknown): SiteRefusal {
  const members = readObject('access.refusal', value);
  const kind = readOneOf('access.refusal.kind', members['kind'], ['page', 'redirect']);
  if (kind === 'page') {
    const html = readText('access.refusal.html', members['html']);
    if (html.length > MAX_PAGE_BYTES)
      throw new SpecProblem(`access.refusal.html: expected at most ${MAX_PAGE_BYTES} characters`);
    return { kind, html };
  }
  // It is sent as Location, so it must not contain a line end.
  const url = URL.parse(readText('access.refusal.url', members['url']));
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url === null || !isWeb || url.username !== '' || url.password !== '')
    throw expected('access.refusal.url', 'an http or https URL', members['url']);
  const object = parseObjectUrl(url.href.replace(/#.*$/s, ''));
  return { kind, url: url.href, target: object.kind === 'url' ? object.host + object.keyTarget : '' };
}

function compileList<T>(member: string, value: unknown, compile: (entries: readonly string[]) => T): T {
  if (!Array.isArray(value)) throw expected(member, 'a list', value);
  if (value.length > MAX_ACCESS_ENTRIES)
    throw new SpecProblem(`${member}: expected at most ${MAX_ACCESS_ENTRIES}, found ${value.length}`);
  const entries = value.map((entry, index) => readText(`${member}[${index}]`, entry));
  try {
    return compile(entries);
  } catch (error) {
    if (error instanceof RangeError) throw new SpecProblem(`${member}: ${error.message}`, { cause: error });
    throw error;
  }
}
