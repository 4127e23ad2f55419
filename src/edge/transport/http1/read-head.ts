/**
 * The head of a viewer's request, read off the bytes of its connection without making a string. It takes what nearly
 * every viewer sends and leaves the rest to node:http: whatever that parser refuses, or could understand otherwise.
 * docs/decisions/0270
 */
import { byteTable, COLON, CR, LF, skipBlanks, TOKEN_BYTES, trimBlanks } from '#http/head-bytes.ts';
import { trimOws } from '#http/headers.ts';
import { FieldKind, KNOWN_FIELDS, type KnownField } from '../../shortcuts/plain-fields.ts';

/**
 * Where the parts of one head stand in the bytes it was read from; ends are exclusive. One object serves all requests
 * of a worker.
 */
export class RequestHead {
  /** HEAD, else GET. */
  isHead = false;
  /** `Connection: close`: no request comes behind it. */
  isLast = false;
  /**
   * Nothing in it but `Accept-Encoding` and the two conditions below changes how a stored response is served that does
   * not vary.
   */
  isPlain = true;
  /** The value of some field holds a byte that the log does not write as it is. */
  hasEscapes = false;
  /** Offset of the first field's name. */
  fieldsStart = 0;
  /** Offset behind the empty line. */
  end = 0;
  targetStart = 0;
  targetEnd = 0;
  // Values, without the blanks around them. Start and end are the same where the field is not there.
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
  /** The bits of those `KnownField`s that must not come twice. */
  seen = 0;

  /**
   * The fields as node:http returns them: names and values alternating, one character per byte. `bytes`: the bytes that
   * were read, at the same offsets. The strings are slices of one text, except the host, which tables remember: as a
   * slice it would keep the whole head in memory.
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
 * `incomplete`: what is there is the beginning of a head that may be whole later. `other`: not for this reader,
 * whatever comes.
 */
export type Reading = 'whole' | 'incomplete' | 'other';

/** The same limit as node:http has here. */
const MAX_HEAD_BYTES = 32 * 1024;
/** Browsers send about twenty. */
const MAX_FIELDS = 100;

/**
 * `head` says something only if the whole of it is there. Reads from the beginning each time, so that a head that comes
 * in many pieces is better left to node:http.
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

/** One line. What begins with a blank would go on with the line before: node:http refuses it. RFC 9112 §5 */
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
  // Written in another way, its bytes are not those that the log counts.
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

/** Compares without case; `word` is in lower case. */
function isWord(bytes: Buffer, from: number, to: number, word: Uint8Array): boolean {
  if (to - from !== word.length) return false;
  // Of what a name or a value may hold, this bit makes letters of letters only.
  for (let i = 0; i < word.length; i++) if (((bytes[from + i] ?? 0) | 0x20) !== word[i]) return false;
  return true;
}

/** False: with this field the request is not for this reader. */
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
    default: // of a kind that this reader does not know
      head.isPlain = false;
  }
  if (start === end) head.isPlain = false; // to have one that says nothing is not to have none
  return true;
}

/** Anything but these two words may name fields that go no further, or another protocol. */
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

// Tables with a 1 for each byte that may stand there.
/** RFC 9110 §5.6.2 */
const TOKEN = TOKEN_BYTES; // bound here, since reading an import costs a load more per byte
/** RFC 9110 §5.5, and the blanks around it: what nearly all are made of, and the rest. */
const VALUE = byteTable(/[ -[\]-~]/);
const ESCAPED = byteTable(/[\t\\\x80-\xff]/);
/** All that is visible, as clients send more than RFC 3986 lets them, but a fragment. docs/decisions/0032, 0416 */
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

/** The factors give every known field a slot of its own, into which no unknown field falls that browsers often send. */
function slotOf(length: number, first: number, last: number): number {
  return (length + (first | 0x20) * 5 + (last | 0x20) * 7) & (SLOTS - 1);
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}
