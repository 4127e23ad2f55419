/**
 * Parses the head of a viewer's request in place, without making strings. It accepts the requests that nearly all
 * viewers send and leaves the rest to node:http: everything that its parser refuses or could interpret differently.
 * docs/decisions/0270
 */
import { byteTable, COLON, CR, LF, skipBlanks, TOKEN_BYTES, trimBlanks } from '#http/head-bytes.ts';
import { trimOws } from '#http/headers.ts';
import { FieldKind, KNOWN_FIELDS, type KnownField } from '../../shortcuts/plain-fields.ts';

/**
 * Offsets of the parts of one head in the bytes that it was read from; ends are exclusive. All requests of a worker
 * share one object.
 */
export class RequestHead {
  /** The method is HEAD; otherwise it is GET. */
  isHead = false;
  /** The request has `Connection: close`, so no other follows. */
  isLast = false;
  /**
   * No field other than `Accept-Encoding`, `If-None-Match` and `If-Modified-Since` affects how a stored response
   * without `Vary` is served.
   */
  isPlain = true;
  /** Some field value contains a byte that the log escapes. */
  hasEscapes = false;
  /** Offset of the first field's name. */
  fieldsStart = 0;
  /** Offset after the empty line. */
  end = 0;
  targetStart = 0;
  targetEnd = 0;
  // Field values without surrounding blanks. Start and end are equal if the field is absent.
  hostStart = 0;
  hostEnd = 0;
  userAgentStart = 0;
  userAgentEnd = 0;
  refererStart = 0;
  refererEnd = 0;
  acceptEncodingStart = 0;
  acceptEncodingEnd = 0;
  ifNoneMatchStart = 0;
  ifNoneMatchEnd = 0;
  ifModifiedSinceStart = 0;
  ifModifiedSinceEnd = 0;
  /** Bits of the `KnownField`s seen so far that must not repeat. */
  seen = 0;

  /**
   * Returns the fields as node:http does: names and values alternating, one character per byte. `bytes`: the bytes that
   * were read, at the same offsets. The strings are slices of one text. Only the host is copied, since tables keep it
   * and a slice would keep the whole head in memory.
   */
  rawHeaders(bytes: Buffer): string[] {
    const { fieldsStart, hostStart, hostEnd } = this;
    const text = bytes.toString('latin1', fieldsStart, this.end);
    const hostAt = hostStart - fieldsStart;
    const headers: string[] = [];
    let at = 0;
    while (text.charCodeAt(at) !== CR) {
      const colon = text.indexOf(':', at);
      const lineEnd = text.indexOf('\r', colon);
      const isHost = colon < hostAt && hostAt < lineEnd;
      const value = isHost ? bytes.toString('latin1', hostStart, hostEnd) : trimOws(text.slice(colon + 1, lineEnd));
      headers.push(text.slice(at, colon), value);
      at = lineEnd + 2;
    }
    return headers;
  }
}

/**
 * `incomplete`: the bytes are the beginning of a head that may become acceptable. `other`: this reader cannot accept
 * the request, whatever follows.
 */
export type Reading = 'whole' | 'incomplete' | 'other';

/** The limit that node:http has here, too. */
const MAX_HEAD_BYTES = 32 * 1024;
/** Browsers send about twenty. */
const MAX_FIELDS = 100;

/**
 * Parses the head in `[from, to)`. `head` is valid only if the result is `whole`. Each call starts from the beginning,
 * so a head that arrives in many pieces is better left to node:http.
 */
export function readHead(bytes: Buffer, from: number, to: number, head: RequestHead): Reading {
  const limit = Math.min(to, from + MAX_HEAD_BYTES);
  clear(head);
  let at = readRequestLine(bytes, from, limit, head);
  head.fieldsStart = at;
  if (at >= 0) at = readFields(bytes, at, limit, head);
  head.end = at;
  if (at >= 0) return head.hostEnd > head.hostStart ? 'whole' : 'other';
  return at === INCOMPLETE && limit === to ? 'incomplete' : 'other';
}

// Returned by the functions below in place of the end offset.
const INCOMPLETE = -1;
const OTHER = -2;

function clear(head: RequestHead): void {
  head.isLast = false;
  head.isPlain = true;
  head.hasEscapes = false;
  head.hostStart = head.hostEnd = 0;
  head.userAgentStart = head.userAgentEnd = 0;
  head.refererStart = head.refererEnd = 0;
  head.acceptEncodingStart = head.acceptEncodingEnd = 0;
  head.ifNoneMatchStart = head.ifNoneMatchEnd = 0;
  head.ifModifiedSinceStart = head.ifModifiedSinceEnd = 0;
  head.seen = 0;
}

/** `GET /target HTTP/1.1`, or HEAD. RFC 9112 §3 */
function readRequestLine(bytes: Buffer, from: number, to: number, head: RequestHead): number {
  head.isHead = bytes[from] === HEAD[0];
  const start = readExactly(bytes, from, to, head.isHead ? HEAD : GET);
  if (start < 0) return start;
  if (start < to && bytes[start] !== SLASH) return OTHER; // RFC 9112 §3.2.1
  let at = start;
  while (at < to && TARGET[bytes[at] ?? 0] === 1) at++;
  head.targetStart = start;
  head.targetEnd = at;
  return readExactly(bytes, at, to, VERSION);
}

function readExactly(bytes: Buffer, from: number, to: number, text: Uint8Array): number {
  for (let i = 0; i < text.length; i++) {
    if (from + i === to) return INCOMPLETE;
    if (bytes[from + i] !== text[i]) return OTHER;
  }
  return from + text.length;
}

function readFields(bytes: Buffer, from: number, to: number, head: RequestHead): number {
  let at = from;
  for (let count = 0; ; count++) {
    if (at === to) return INCOMPLETE;
    if (bytes[at] === CR) return readExactly(bytes, at, to, LINE_END);
    if (count === MAX_FIELDS) return OTHER;
    at = readField(bytes, at, to, head);
    if (at < 0) return at;
  }
}

/**
 * Parses one field line. A line that begins with a blank would continue the line before: node:http refuses it. RFC 9112
 * §5
 */
function readField(bytes: Buffer, from: number, to: number, head: RequestHead): number {
  let at = from;
  while (at < to && TOKEN[bytes[at] ?? 0] === 1) at++;
  const colon = at;
  if (colon === to) return INCOMPLETE;
  if (colon === from || bytes[colon] !== COLON) return OTHER;
  const start = skipBlanks(bytes, colon + 1, to);
  at = start;
  while (at < to && VALUE[bytes[at] ?? 0] === 1) at++;
  if (at < to && ESCAPED[bytes[at] ?? 0] === 1) {
    head.hasEscapes = true;
    while (at < to && isOfValue(bytes[at] ?? 0)) at++;
  }
  const next = at + 2;
  if (next > to || bytes[at] !== CR || bytes[at + 1] !== LF) return readExactly(bytes, at, to, LINE_END);
  const end = trimBlanks(bytes, start, at);
  // The log computes the size of plain heads from the usual spelling, `name: value`.
  if (start !== colon + 2 || end !== at) head.isPlain = false;
  const field = findField(bytes, from, colon);
  return field === undefined || note(head, field, bytes, start, end) ? next : OTHER;
}

function isOfValue(byte: number): boolean {
  return VALUE[byte] === 1 || ESCAPED[byte] === 1;
}

function findField(bytes: Buffer, from: number, to: number): SlottedField | undefined {
  const field = FIELDS[slotOf(to - from, bytes[from] ?? 0, bytes[to - 1] ?? 0)];
  return field !== undefined && isWord(bytes, from, to, field.name) ? field : undefined;
}

/** Compares case-insensitively; `word` is in lower case. */
function isWord(bytes: Buffer, from: number, to: number, word: Uint8Array): boolean {
  if (to - from !== word.length) return false;
  // Among the bytes allowed in names and values, this bit maps only letters to letters.
  for (let i = 0; i < word.length; i++) if (((bytes[from + i] ?? 0) | 0x20) !== word[i]) return false;
  return true;
}

/** Returns false if this reader cannot accept a request with this field. */
function note(head: RequestHead, { kind, bit }: SlottedField, bytes: Buffer, start: number, end: number): boolean {
  const isRepeated = (head.seen & bit) !== 0;
  head.seen |= bit;
  if (isRepeated) head.isPlain = false;
  switch (kind) {
    case FieldKind.notOurs:
      return false;
    case FieldKind.notPlain:
      head.isPlain = false;
      return true;
    case FieldKind.once:
      return true;
    case FieldKind.connection:
      return noteConnection(head, bytes, start, end);
    case FieldKind.host:
      head.hostStart = start;
      head.hostEnd = end;
      return !isRepeated; // RFC 9112 §3.2
    case FieldKind.userAgent:
      head.userAgentStart = start;
      head.userAgentEnd = end;
      break;
    case FieldKind.referer:
      head.refererStart = start;
      head.refererEnd = end;
      break;
    case FieldKind.acceptEncoding:
      head.acceptEncodingStart = start;
      head.acceptEncodingEnd = end;
      break;
    case FieldKind.ifNoneMatch:
      head.ifNoneMatchStart = start;
      head.ifNoneMatchEnd = end;
      break;
    case FieldKind.ifModifiedSince:
      head.ifModifiedSinceStart = start;
      head.ifModifiedSinceEnd = end;
      break;
    default: // field kinds that this reader does not handle
      head.isPlain = false;
  }
  if (start === end) head.isPlain = false; // an empty field differs from an absent one
  return true;
}

/** Any other value may name hop-by-hop fields, or another protocol. */
function noteConnection(head: RequestHead, bytes: Buffer, start: number, end: number): boolean {
  if (isWord(bytes, start, end, KEEP_ALIVE)) return true;
  head.isLast = isWord(bytes, start, end, CLOSE);
  return head.isLast;
}

const SLASH = 0x2f;
const GET = bytesOf('GET ');
const HEAD = bytesOf('HEAD ');
const VERSION = bytesOf(' HTTP/1.1\r\n');
const LINE_END = bytesOf('\r\n');
const KEEP_ALIVE = bytesOf('keep-alive');
const CLOSE = bytesOf('close');

// Tables with a 1 for each allowed byte.
/** RFC 9110 §5.6.2 */
const TOKEN = TOKEN_BYTES; // bound here, since reading an import costs a load more per byte
/**
 * Bytes of a field value (RFC 9110 §5.5) and the blanks around it: `VALUE` has those that nearly all values consist of,
 * `ESCAPED` the rest.
 */
const VALUE = byteTable(/[ -[\]-~]/);
const ESCAPED = byteTable(/[\t\\\x80-\xff]/);
/** All visible bytes except `#`: clients send more than RFC 3986 allows. docs/decisions/0032, 0416 */
const TARGET = byteTable(/[!"$-~\x80-\xff]/);

interface SlottedField extends Pick<KnownField, 'kind' | 'bit'> {
  readonly name: Uint8Array;
}

const SLOTS = 256;

/**
 * Known fields by slot: comparing a name with every one of its length costs 20 ns more per field (docs/decisions/0274).
 */
const FIELDS = slotFields(KNOWN_FIELDS);

function slotFields(fields: readonly KnownField[]): readonly (SlottedField | undefined)[] {
  const slots = new Array<SlottedField | undefined>(SLOTS).fill(undefined);
  for (const { name: text, kind, bit } of fields) {
    const name = bytesOf(text);
    const slot = slotOf(name.length, name[0] ?? 0, name.at(-1) ?? 0);
    if (slots[slot] !== undefined) throw new Error(`two fields in a slot, one is ${text}`);
    slots[slot] = { name, kind, bit };
  }
  return slots;
}

/** The factors give every known field a slot of its own, and no unknown field that browsers often send shares one. */
function slotOf(length: number, first: number, last: number): number {
  return (length + (first | 0x20) * 5 + (last | 0x20) * 7) & (SLOTS - 1);
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}
