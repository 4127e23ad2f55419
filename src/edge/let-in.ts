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

/** Of more, all is asked each time. Arrays of so many bytes are where the engine has its objects. */
const MAX_ORIGIN_BYTES = 64;
/** No field is this. */
const NOBODY = '\n';

export class LetIn {
  readonly #access: SiteAccess;
  #address = NOBODY;
  #userAgent: string | undefined = NOBODY;
  readonly #origin = new Uint8Array(MAX_ORIGIN_BYTES);
  /** 0: none is remembered. */
  #originLength = 0;

  constructor(access: SiteAccess) {
    this.#access = access;
  }

  /** Whether the rules let this request in. */
  admits<Head extends RefererPlace>(connection: AskingConnection<Head>, bytes: Buffer, head: Head): boolean {
    const { deniedAddresses, referers, deniedUserAgents } = this.#access;
    const { passed } = connection;
    const hasPassed = passed.access === this.#access;
    if (deniedAddresses !== undefined && !hasPassed && !this.#admitsAddress(connection.clientAddress)) return false;
    if (referers !== undefined && !this.#hasOrigin(bytes, head)) {
      if (!this.#admitsReferer(connection.refererOf(bytes, head))) return false;
    }
    if (deniedUserAgents !== undefined) {
      const userAgent = connection.userAgentOf(bytes, head);
      if (!(hasPassed && userAgent === passed.userAgent) && !this.#admitsUserAgent(userAgent)) return false;
      passed.userAgent = userAgent;
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
    this.#userAgent = userAgent;
    return true;
  }

  #admitsReferer(referer: string | undefined): boolean {
    if (deniesReferer(this.#access, referer)) return false;
    const length = plainOriginLength(referer ?? '');
    if (length > 0 && length <= MAX_ORIGIN_BYTES) {
      for (let i = 0; i < length; i++) this.#origin[i] = (referer ?? '').charCodeAt(i);
      this.#originLength = length;
    }
    return true;
  }

  /** Whether it begins with the remembered origin, and that is all of its own. */
  #hasOrigin(bytes: Buffer, { refererStart, refererEnd }: RefererPlace): boolean {
    const length = this.#originLength;
    const end = refererStart + length;
    if (length === 0 || end > refererEnd) return false;
    const origin = this.#origin;
    for (let i = 0; i < length; i++) if (bytes[refererStart + i] !== origin[i]) return false;
    if (end === refererEnd) return true;
    const next = bytes[end];
    return next === SLASH || next === QUESTION || next === HASH;
  }
}

const SLASH = 0x2f;
const QUESTION = 0x3f;
const HASH = 0x23;
