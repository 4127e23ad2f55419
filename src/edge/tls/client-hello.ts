/**
 * What a client says before anything is encrypted, as far as the choice of a certificate needs it: which host it wants, and
 * which keys sealed the tickets that it brings. OpenSSL reads the same bytes again and checks the rest. Pure.
 */

export type ClientHello =
  | { readonly kind: 'incomplete' }
  /** Something else than TLS, or a hello larger than any client sends. */
  | { readonly kind: 'malformed' }
  | {
      readonly kind: 'hello';
      /** Lower-case; a trailing dot is left out. `undefined`: it names no host. */
      readonly serverName: string | undefined;
      /** Of each ticket the name of the key that sealed it, in hexadecimal. */
      readonly ticketKeyNames: readonly string[];
    };

/** Hellos have some hundred bytes, and up to two thousand with a post-quantum key. */
const MAX_HELLO_BYTES = 16 * 1024;

/** OpenSSL begins a ticket with it. RFC 5077 §4 */
export const TICKET_KEY_NAME_BYTES = 16;

const MALFORMED = { kind: 'malformed' } as const;
const INCOMPLETE = { kind: 'incomplete' } as const;

/** `bytes`: everything that came on the connection so far. */
export function readClientHello(bytes: Buffer): ClientHello {
  const message = joinRecords(bytes);
  if (!Buffer.isBuffer(message)) return message;
  try {
    return readMessage(message);
  } catch (error) {
    if (error instanceof RangeError) return MALFORMED; // a length that points past the end
    throw error;
  }
}

/** A handshake message may come in several records, of any size. RFC 8446 §5.1 */
function joinRecords(bytes: Buffer): Buffer | typeof MALFORMED | typeof INCOMPLETE {
  const parts: Buffer[] = [];
  let joined = 0;
  let end: number | undefined;
  for (let at = 0; parts.length < MAX_RECORDS; ) {
    const [type = HANDSHAKE, major = 3] = bytes.subarray(at, at + 2);
    if (type !== HANDSHAKE || major !== 3) return MALFORMED;
    if (bytes.length < at + RECORD_HEADER_BYTES) return INCOMPLETE;
    const sizeBytes = bytes.readUInt16BE(at + 3);
    if (sizeBytes === 0 || at + sizeBytes > MAX_HELLO_BYTES) return MALFORMED;
    const part = bytes.subarray(at + RECORD_HEADER_BYTES, at + RECORD_HEADER_BYTES + sizeBytes);
    if (joined === 0 && part.length > 0 && part[0] !== CLIENT_HELLO) return MALFORMED;
    parts.push(part);
    joined += part.length;
    if (end === undefined && joined >= MESSAGE_HEADER_BYTES)
      end = MESSAGE_HEADER_BYTES + Buffer.concat(parts).readUIntBE(1, 3);
    if (end !== undefined && end > MAX_HELLO_BYTES) return MALFORMED;
    if (end !== undefined && joined >= end) return Buffer.concat(parts).subarray(MESSAGE_HEADER_BYTES, end);
    if (part.length < sizeBytes) return INCOMPLETE;
    at += RECORD_HEADER_BYTES + sizeBytes;
  }
  return MALFORMED;
}

/** Clients use one; some split the name in two against those who read along. */
const MAX_RECORDS = 64;
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const RECORD_HEADER_BYTES = 5;
const MESSAGE_HEADER_BYTES = 4;
const VERSION_AND_RANDOM_BYTES = 2 + 32;

/** RFC 8446 §4.1.2. Throws `RangeError`. */
function readMessage(message: Buffer): ClientHello {
  let serverName: string | undefined;
  const ticketKeyNames: string[] = [];
  const reader = new Reader(message);
  reader.skip(VERSION_AND_RANDOM_BYTES);
  reader.skip(reader.uint(1)); // session id
  reader.skip(reader.uint(2)); // cipher suites
  reader.skip(reader.uint(1)); // compression methods
  if (reader.isAtEnd) return { kind: 'hello', serverName, ticketKeyNames };
  const extensions = new Reader(reader.take(reader.uint(2)));
  while (!extensions.isAtEnd) {
    const type = extensions.uint(2);
    const content = extensions.take(extensions.uint(2));
    if (type === SERVER_NAME) serverName = readServerName(content);
    else if (type === SESSION_TICKET && content.length > TICKET_KEY_NAME_BYTES) ticketKeyNames.push(keyName(content));
    else if (type === PRE_SHARED_KEY) ticketKeyNames.push(...readIdentities(content));
  }
  return { kind: 'hello', serverName, ticketKeyNames };
}

const SERVER_NAME = 0;
const SESSION_TICKET = 35;
const PRE_SHARED_KEY = 41;
/** More than a client brings, which keeps one or two per host. */
const MAX_IDENTITIES = 8;

/** RFC 1035 §2.3.4, and a dot behind it. */
const MAX_NAME_CHARS = 254;

/** RFC 6066 §3: a list of names, of which one kind was ever defined. */
function readServerName(content: Buffer): string | undefined {
  const names = new Reader(content);
  names.skip(2);
  if (names.uint(1) !== 0) return undefined;
  const name = names.take(names.uint(2)).toString('latin1');
  if (name.length > MAX_NAME_CHARS) throw new RangeError('a name longer than names are');
  return name === '' ? undefined : name.toLowerCase().replace(/\.$/, '');
}

/** RFC 8446 §4.2.11 */
function readIdentities(content: Buffer): string[] {
  const reader = new Reader(content);
  const identities = new Reader(reader.take(reader.uint(2)));
  const names: string[] = [];
  while (!identities.isAtEnd && names.length < MAX_IDENTITIES) {
    const identity = identities.take(identities.uint(2));
    identities.skip(4); // its age
    if (identity.length > TICKET_KEY_NAME_BYTES) names.push(keyName(identity));
  }
  return names;
}

function keyName(ticket: Buffer): string {
  return ticket.toString('hex', 0, TICKET_KEY_NAME_BYTES);
}

/** Reads on from byte to byte; past the end it throws `RangeError`. */
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
