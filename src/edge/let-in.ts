/**
 * Whom a site's rules have let in to one answer. The last of each kind is remembered, since the next to ask is often of the same kind:
 * a proxy's address, a browser that many have, the site whose pages show it. docs/decisions/0305
 */
import type { SiteAccess } from '#sites/access.ts';
import { plainOriginLength } from '#sites/referer.ts';
import { deniesAddress, deniesReferer, deniesUserAgent } from './access.ts';

/** A connection that says of each of its requests who asks; nobody speaks for others on it. */
export interface AskingConnection<Head extends RefererPlace> {
  readonly clientAddress: string;
  /** Whose rules let its address in last, and which User-Agent. */
  passed: { access: SiteAccess | undefined; userAgent: string | undefined };
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
/** What it takes of memory at most. */
export const LET_IN_BYTES = 500;
/** No field is this. */
const NOBODY = '\n';

export class LetIn {
  // Few and flat: of many sites each lies in no cache of the processor, and so would each thing that this points to.
  readonly #access: SiteAccess;
  readonly #asksAddress: boolean;
  readonly #asksReferer: boolean;
  readonly #asksUserAgent: boolean;
  #address = NOBODY;
  #userAgent: string | undefined = NOBODY;
  /** A character for each byte. */
  #origin = NOBODY;

  constructor(access: SiteAccess) {
    this.#access = access;
    this.#asksAddress = access.deniedAddresses !== undefined;
    this.#asksReferer = access.referers !== undefined;
    this.#asksUserAgent = access.deniedUserAgents !== undefined;
  }

  /** Whether the rules let this request in. */
  admits<Head extends RefererPlace>(connection: AskingConnection<Head>, bytes: Buffer, head: Head): boolean {
    const { passed } = connection;
    const hasPassed = passed.access === this.#access;
    if (this.#asksAddress && !hasPassed && !this.#admitsAddress(connection.clientAddress)) return false;
    if (this.#asksReferer && !this.#hasOrigin(bytes, head)) {
      if (!this.#admitsReferer(connection.refererOf(bytes, head), bytes, head)) return false;
    }
    if (this.#asksUserAgent) {
      const userAgent = connection.userAgentOf(bytes, head);
      if (!(hasPassed && userAgent === passed.userAgent) && !this.#admitsUserAgent(userAgent)) return false;
      passed.userAgent = shortOrNobody(userAgent);
    }
    passed.access = this.#access;
    return true;
  }

  #admitsAddress(address: string): boolean {
    if (address === this.#address) return true;
    if (deniesAddress(this.#access, address)) return false;
    this.#address = address;
    return true;
  }

  #admitsUserAgent(userAgent: string | undefined): boolean {
    if (userAgent === this.#userAgent) return true;
    if (deniesUserAgent(this.#access, userAgent)) return false;
    this.#userAgent = shortOrNobody(userAgent);
    return true;
  }

  #admitsReferer(referer: string | undefined, bytes: Buffer, { refererStart }: RefererPlace): boolean {
    if (deniesReferer(this.#access, referer)) return false;
    const length = plainOriginLength(referer ?? '');
    // Of the bytes, as it would else keep all of the text.
    if (length > 0 && length <= MAX_ORIGIN_BYTES)
      this.#origin = bytes.toString('latin1', refererStart, refererStart + length);
    return true;
  }

  /** Whether it begins with the remembered origin, and that is all of its own. */
  #hasOrigin(bytes: Buffer, { refererStart, refererEnd }: RefererPlace): boolean {
    const origin = this.#origin;
    const end = refererStart + origin.length;
    if (end > refererEnd) return false;
    for (let i = 0; i < origin.length; i++) if (bytes[refererStart + i] !== origin.charCodeAt(i)) return false;
    if (end === refererEnd) return true;
    const next = bytes[end];
    return next === SLASH || next === QUESTION || next === HASH;
  }
}

function shortOrNobody(userAgent: string | undefined): string | undefined {
  return userAgent !== undefined && userAgent.length > MAX_USER_AGENT_CHARS ? NOBODY : userAgent;
}

const SLASH = 0x2f;
const QUESTION = 0x3f;
const HASH = 0x23;
