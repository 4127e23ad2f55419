/**
 * The clients that a site's rules have let in to one answer. The last of each kind is remembered, since the next
 * request is often of the same kind: a proxy's address, a common browser, the site whose pages embed the object.
 * docs/decisions/0270
 */
import { endInText, endOfText, wordsFor, writeText } from '#lib/words-of-text.ts';
import type { SiteAccess } from '#sites/access.ts';
import { plainOriginLength } from '#sites/referer.ts';
import { type AskingClient, deniesAddress, deniesReferer, deniesUserAgent } from '../stages/access.ts';

/**
 * An answer, with what it remembers. It is all in what is looked at anyway to find it: of many sites each lies in no cache of the
 * processor, and so would each thing that it points to.
 */
export interface GuardedAnswer {
  readonly site: { readonly access: SiteAccess };
  /** `asksOf` its rules. */
  readonly asks: number;
  letInAddress: string;
  letInUserAgent: string | undefined;
  /** The key, followed from `keyWords` on by `originWords` words for the last origin of a Referer. */
  readonly key: Int32Array;
  readonly keyWords: number;
}

/** A connection whose requests all come from one client: it is not a trusted proxy's. */
export interface AskingConnection<Head extends RefererPlace> {
  /**
   * Usually the same string object where texts are equal, so that it need not be compared byte by byte. The same holds
   * for the result of `userAgentOf`.
   */
  readonly clientAddress: string;
  /** Whose rules let its address in last, and which User-Agent. */
  readonly passed: { access: SiteAccess | undefined; userAgent: string | undefined };
  userAgentOf(bytes: Buffer, head: Head): string | undefined;
  refererOf(bytes: Buffer, head: Head): string | undefined;
}

export interface RefererPlace {
  readonly refererStart: number;
  readonly refererEnd: number;
}

/** Longer ones are asked about each time: what clients choose must not fill the memory. */
const MAX_ORIGIN_BYTES = 64;
const MAX_USER_AGENT_CHARS = 256;
/** No field is this. */
export const NOBODY = '\n';

/** What rules ask about, as bits. `unknown`: something that only the pipeline can answer. */
const ASKS = { address: 1, referer: 2, userAgent: 4, letsBlankIn: 8, unknown: 16 } as const;
/** Bits that `isLetIn` and `isClientLetIn` can answer; requests with other bits go to the pipeline. */
const ANSWERED = ASKS.address | ASKS.referer | ASKS.userAgent | ASKS.letsBlankIn;

/** What each rule asks about; a rule without a row does not compile. docs/decisions/0415 */
export const RULE_ASKS = {
  deniedAddresses: ASKS.address,
  referers: ASKS.referer,
  deniedUserAgents: ASKS.userAgent,
  refusal: 0, // says how a client is refused, not who
} as const satisfies Record<keyof SiteAccess, number>;

/**
 * The bits of the rules; 0: every client is let in. A rule without a row, as from a later release, is left to the
 * pipeline.
 */
export function asksOf(access: SiteAccess): number {
  const rows: Readonly<Record<string, number>> = RULE_ASKS;
  const letsBlankIn = access.referers !== undefined && !deniesReferer(access, undefined);
  let asks: number = letsBlankIn ? ASKS.letsBlankIn : 0;
  for (const [rule, value] of Object.entries(access)) if (value !== undefined) asks |= rows[rule] ?? ASKS.unknown;
  return asks;
}

/** What there must be room for behind the key. */
export function originWords(asks: number): number {
  return (asks & ASKS.referer) === 0 ? 0 : wordsFor(MAX_ORIGIN_BYTES);
}

/** Whether the rules let this request in. */
export function isLetIn<Head extends RefererPlace>(
  answer: GuardedAnswer,
  connection: AskingConnection<Head>,
  bytes: Buffer,
  head: Head,
): boolean {
  const { asks } = answer;
  if (asks === 0) return true;
  if ((asks & ~ANSWERED) !== 0) return false;
  if ((asks & ASKS.address) !== 0 && connection.clientAddress !== answer.letInAddress) {
    if (!admitsAddress(answer, connection)) return false;
  }
  if ((asks & ASKS.referer) !== 0 && !hasOrigin(answer, bytes, head)) {
    if (head.refererStart === head.refererEnd) {
      if ((asks & ASKS.letsBlankIn) === 0) return false;
    } else if (!admitsReferer(answer, connection.refererOf(bytes, head))) return false;
  }
  if ((asks & ASKS.userAgent) === 0) return true;
  const userAgent = connection.userAgentOf(bytes, head);
  return userAgent === answer.letInUserAgent || admitsUserAgent(answer, connection, userAgent);
}

/** The same check for a client given as texts, on a connection that remembers nothing. */
export function isClientLetIn(
  answer: GuardedAnswer,
  { clientAddress, referer = '', userAgent }: AskingClient,
): boolean {
  const { asks } = answer;
  if (asks === 0) return true;
  if ((asks & ~ANSWERED) !== 0) return false;
  if ((asks & ASKS.address) !== 0 && clientAddress !== answer.letInAddress) {
    if (!admitsAddress(answer, { clientAddress, passed: nothing() })) return false;
  }
  if ((asks & ASKS.referer) !== 0 && !isOriginOf(answer, referer)) {
    if (referer === '') {
      if ((asks & ASKS.letsBlankIn) === 0) return false;
    } else if (!admitsReferer(answer, referer)) return false;
  }
  if ((asks & ASKS.userAgent) === 0 || userAgent === answer.letInUserAgent) return true;
  return admitsUserAgent(answer, { clientAddress, passed: nothing() }, userAgent);
}

type Passing = Pick<AskingConnection<RefererPlace>, 'clientAddress' | 'passed'>;

function admitsAddress(answer: GuardedAnswer, { clientAddress, passed }: Passing): boolean {
  const { access } = answer.site;
  if (passed.access === access) return true;
  if (deniesAddress(access, clientAddress)) return false;
  passed.access = access;
  passed.userAgent = NOBODY;
  answer.letInAddress = clientAddress;
  return true;
}

/** Checks the User-Agent of a client whose address has been let in. */
function admitsUserAgent(answer: GuardedAnswer, { passed }: Passing, userAgent: string | undefined): boolean {
  const { access } = answer.site;
  if (passed.access === access && passed.userAgent === userAgent) return true;
  if (deniesUserAgent(access, userAgent)) return false;
  const isLong = userAgent !== undefined && userAgent.length > MAX_USER_AGENT_CHARS;
  passed.access = access;
  passed.userAgent = isLong ? NOBODY : userAgent;
  answer.letInUserAgent = passed.userAgent;
  return true;
}

function admitsReferer({ site, key, keyWords }: GuardedAnswer, referer = ''): boolean {
  if (deniesReferer(site.access, referer)) return false;
  const length = plainOriginLength(referer);
  if (length === 0 || length > MAX_ORIGIN_BYTES) return true;
  writeText(key, keyWords, Buffer.from(referer.slice(0, length), 'latin1'), 0, length);
  return true;
}

/** Whether it begins with the remembered origin, and that is all of its own. */
function hasOrigin(
  { key, keyWords }: GuardedAnswer,
  bytes: Buffer,
  { refererStart, refererEnd }: RefererPlace,
): boolean {
  const end = endOfText(key, keyWords, bytes, refererStart, refererEnd);
  return end === refererEnd || (end !== -1 && endsOrigin(bytes[end]));
}

function isOriginOf({ key, keyWords }: GuardedAnswer, referer: string): boolean {
  const end = endInText(key, keyWords, referer);
  return end !== -1 && (end === referer.length || endsOrigin(referer.charCodeAt(end)));
}

function endsOrigin(byte: number | undefined): boolean {
  return byte === SLASH || byte === QUESTION || byte === HASH;
}

function nothing(): Passing['passed'] {
  return { access: undefined, userAgent: undefined };
}

const SLASH = 0x2f;
const QUESTION = 0x3f;
const HASH = 0x23;
