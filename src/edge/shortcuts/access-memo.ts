/**
 * Remembers the last client of each kind that a site's rules have admitted to one answer, since the next request is
 * often alike: a proxy's address, a common browser, the site whose pages embed the object. docs/decisions/0270
 */
import { flatText } from '#lib/flat-text.ts';
import type { DeniedAccess, SiteAccess } from '#sites/access.ts';
import { plainOriginLength } from '#sites/referer.ts';
import type { CountedClient } from '../client-rates.ts';

/** An answer, with the last client that was admitted to it. */
export interface GuardedAnswer {
  readonly site: { readonly access: SiteAccess };
  /** Result of `asksOf` for the site's rules. */
  readonly asks: number;
  letInAddress: string;
  letInUserAgent: string | undefined;
  /** Origin of the last admitted Referer: its beginning, up to the path. */
  letInOrigin: string;
}

/** The properties of a client that `isLetIn` checks. */
export interface AskingClient {
  readonly clientAddress: string;
  readonly referer: string | undefined;
  readonly userAgent: string | undefined;
}

/**
 * The client of a connection, with the last rules that it has passed. A transport may create the texts on demand;
 * recurring equal texts are best the same string object.
 */
export interface RememberedClient extends AskingClient {
  /** The rules that last admitted its address, and the User-Agent that they admitted. */
  readonly passed: { access: SiteAccess | undefined; userAgent: string | undefined };
  /** The client as rate limits count it; `undefined` until one does. */
  counted: CountedClient | undefined;
}

/** Returns `undefined` for an empty text, which stands for an absent field. */
export function orAbsent(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** Longer texts are checked each time, so that clients' choices do not fill the memory. */
const MAX_ORIGIN_CHARS = 64;
const MAX_USER_AGENT_CHARS = 256;
/** A text that no field can have. */
export const NOBODY = '\n';

/** What rules ask about, as bits. `unknown`: only the pipeline can answer it. */
const ASKS = { address: 1, referer: 2, userAgent: 4, unknown: 8 } as const;
/** Bits that `isLetIn` can answer; requests with other bits go to the pipeline. */
const ANSWERED = ASKS.address | ASKS.referer | ASKS.userAgent;

/** What each rule asks about. A list without a row here is left to the pipeline. docs/decisions/0415 */
export const RULE_ASKS = {
  deniedAddresses: ASKS.address,
  deniedLists: ASKS.address,
  allowedLists: ASKS.address,
  referers: ASKS.referer,
  deniedUserAgents: ASKS.userAgent,
  refusal: 0, // says how a client is refused, not which
} as const satisfies Record<Exclude<keyof SiteAccess, keyof DeniedAccess>, number> &
  Partial<Record<keyof DeniedAccess, number>>;

/** Returns the bits of a site's rules; 0 if every client is admitted. */
export function asksOf(access: SiteAccess): number {
  const rows: Readonly<Record<string, number>> = RULE_ASKS;
  let asks = 0;
  for (const [rule, value] of Object.entries(access)) if (value !== undefined) asks |= rows[rule] ?? ASKS.unknown;
  return asks;
}

/**
 * Whether the rules admit this request. `oneOrigin` returns one string object for equal texts: separate copies in
 * thousands of answers would not stay in the processor's cache.
 */
export function isLetIn(answer: GuardedAnswer, client: RememberedClient, oneOrigin: (text: string) => string): boolean {
  const { asks } = answer;
  if (asks === 0) return true;
  if ((asks & ~ANSWERED) !== 0) return false;
  if ((asks & ASKS.address) !== 0 && client.clientAddress !== answer.letInAddress) {
    if (!admitsAddress(answer, client)) return false;
  }
  if ((asks & ASKS.referer) !== 0 && !admitsReferer(answer, client.referer, oneOrigin)) return false;
  return (asks & ASKS.userAgent) === 0 || admitsUserAgent(answer, client);
}

function admitsAddress(answer: GuardedAnswer, { clientAddress, passed }: RememberedClient): boolean {
  const { access } = answer.site;
  if (passed.access === access) return true;
  const { deniedAddresses, deniedLists, allowedLists } = access;
  if (deniedAddresses?.denies(clientAddress) || deniedLists?.denies(clientAddress)) return false;
  if (allowedLists?.denies(clientAddress)) return false;
  passed.access = access;
  passed.userAgent = NOBODY;
  answer.letInAddress = clientAddress;
  return true;
}

/** Checks the User-Agent of a client whose address has been admitted. */
function admitsUserAgent(answer: GuardedAnswer, client: RememberedClient): boolean {
  const { access } = answer.site;
  const { userAgent, passed } = client;
  if (userAgent === answer.letInUserAgent || (passed.access === access && passed.userAgent === userAgent)) return true;
  if (access.deniedUserAgents?.denies(userAgent) === true) return false;
  const isLong = userAgent !== undefined && userAgent.length > MAX_USER_AGENT_CHARS;
  passed.access = access;
  passed.userAgent = isLong ? NOBODY : userAgent;
  answer.letInUserAgent = passed.userAgent;
  return true;
}

function admitsReferer(
  answer: GuardedAnswer,
  referer: string | undefined,
  oneOrigin: (text: string) => string,
): boolean {
  if (referer !== undefined && hasOrigin(referer, answer.letInOrigin)) return true;
  if (answer.site.access.referers?.denies(referer) === true) return false;
  const length = referer === undefined ? 0 : plainOriginLength(referer);
  if (referer !== undefined && length > 0 && length <= MAX_ORIGIN_CHARS)
    answer.letInOrigin = oneOrigin(flatText(referer.slice(0, length)));
  return true;
}

/** Whether the Referer is `origin`, or begins with it followed by a path, query or fragment. */
function hasOrigin(referer: string, origin: string): boolean {
  if (!referer.startsWith(origin)) return false;
  const next = referer.charCodeAt(origin.length);
  return referer.length === origin.length || next === SLASH || next === QUESTION || next === HASH;
}

const SLASH = 0x2f;
const QUESTION = 0x3f;
const HASH = 0x23;
