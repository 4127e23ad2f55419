/**
 * Reads the parts of a ClientHello that the choice of a certificate needs: the server name, and the key names of
 * session tickets. OpenSSL parses the same bytes again and checks the rest. Pure.
 */

export interface ClientHello {
  /** Name in lower case, without a trailing dot; `undefined` if there is no server name. */
  readonly serverName: string | undefined;
  readonly offersTls13: boolean;
  /** Name of the key that sealed each ticket, in hexadecimal. */
  readonly ticketKeyNames: readonly string[];
}

/** Size of the key name at the start of a ticket of OpenSSL. RFC 5077 §4 */
export const TICKET_KEY_NAME_BYTES = 16;

/**
 * `message`: the handshake message without its header. Returns `undefined` if a length in it is wrong. RFC 8446 §4.1.2
 */
export function readClientHello(message: Buffer): ClientHello | undefined {
  try {
    return readMessage(message);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const VERSION_AND_RANDOM_BYTES = 2 + 32;

/** Throws `RangeError` if a length is wrong. */
function readMessage(message: Buffer): ClientHello {
  let serverName: string | undefined;
  let offersTls13 = false;
  const ticketKeyNames: string[] = [];
  const reader = new Reader(message);
  reader.skip(VERSION_AND_RANDOM_BYTES);
  reader.skip(reader.uint(1)); // session id
  reader.skip(reader.uint(2)); // cipher suites
  reader.skip(reader.uint(1)); // compression methods
  const extensions = new Reader(reader.isAtEnd ? Buffer.alloc(0) : reader.take(reader.uint(2)));
  while (!extensions.isAtEnd) {
    const type = extensions.uint(2);
    const content = extensions.take(extensions.uint(2));
    if (type === SERVER_NAME) serverName = readServerName(content);
    else if (type === SUPPORTED_VERSIONS) offersTls13 = readsTls13(content);
    else if (type === SESSION_TICKET && content.length > TICKET_KEY_NAME_BYTES) ticketKeyNames.push(keyName(content));
    else if (type === PRE_SHARED_KEY) ticketKeyNames.push(...readIdentities(content));
  }
  return { serverName, offersTls13, ticketKeyNames };
}

const SERVER_NAME = 0;
const SESSION_TICKET = 35;
const PRE_SHARED_KEY = 41;
const SUPPORTED_VERSIONS = 43;
const TLS_1_3 = 0x0304;
/** Tickets that are read; clients keep one or two per host. */
const MAX_IDENTITIES = 8;

/** RFC 1035 §2.3.4, and a trailing dot. */
const MAX_NAME_CHARS = 254;

/** Reads the first name of the list; only one name type is defined. RFC 6066 §3 */
function readServerName(content: Buffer): string | undefined {
  const names = new Reader(content);
  names.skip(2);
  if (names.uint(1) !== 0) return undefined;
  const name = names.take(names.uint(2)).toString('latin1');
  if (name === '' || name.length > MAX_NAME_CHARS) throw new RangeError('a name shorter or longer than names are');
  return name.toLowerCase().replace(/\.$/, '');
}

/** RFC 8446 §4.2.1 */
function readsTls13(content: Buffer): boolean {
  const reader = new Reader(content);
  const versions = new Reader(reader.take(reader.uint(1)));
  let isIn = false;
  while (!versions.isAtEnd) if (versions.uint(2) === TLS_1_3) isIn = true;
  return isIn;
}

/** RFC 8446 §4.2.11 */
function readIdentities(content: Buffer): string[] {
  const reader = new Reader(content);
  const identities = new Reader(reader.take(reader.uint(2)));
  const names: string[] = [];
  while (!identities.isAtEnd && names.length < MAX_IDENTITIES) {
    const identity = identities.take(identities.uint(2));
    identities.skip(4); // obfuscated ticket age
    if (identity.length > TICKET_KEY_NAME_BYTES) names.push(keyName(identity));
  }
  return names;
}

function keyName(ticket: Buffer): string {
  return ticket.toString('hex', 0, TICKET_KEY_NAME_BYTES);
}

/** Reads bytes sequentially; throws `RangeError` past the end. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  uint(sizeBytes: 1 | 2): number {
    const value = this.#bytes.readUIntBE(this.#at, sizeBytes);
    this.#at += sizeBytes;
    return value;
  }

  take(sizeBytes: number): Buffer {
    const start = this.#at;
    this.skip(sizeBytes);
    return this.#bytes.subarray(start, this.#at);
  }

  skip(sizeBytes: number): void {
    this.#at += sizeBytes;
    if (this.#at > this.#bytes.length) throw new RangeError('the hello ends early');
  }
}
