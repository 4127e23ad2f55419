/**
 * The head of a viewer's request, read off the bytes of its connection without making a string. It takes what nearly every viewer sends
 * and leaves the rest to node:http: whatever that parser refuses, or could understand otherwise. docs/decisions/0007
 */

/** Where the parts of one head stand in the bytes it was read from; ends are exclusive. One object serves all requests of a worker. */
export class RequestHead {
  /** HEAD, else GET. */
  isHead = false;
  /** `Connection: close`: no request comes behind it. */
  isLast = false;
  /** Nothing in it but `Accept-Encoding` and the two conditions below changes how a stored response is served that does not vary. */
  isPlain = true;
  /** Of the first field's name. */
  fieldsStart = 0;
  /** Behind the empty line. */
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
  /** A bit for each field of `ONCE` that has been read. */
  seen = 0;

  /** As node:http gives them: names and values in turn, a character per byte. `bytes`: as they were read, and where they were. */
  rawHeaders(bytes: Buffer): string[] {
    const headers: string[] = [];
    let at = this.fieldsStart;
    while (bytes[at] !== CR) {
      const colon = bytes.indexOf(COLON, at);
      const lineEnd = bytes.indexOf(CR, colon);
      const start = skipBlanks(bytes, colon + 1, lineEnd);
      headers.push(
        bytes.toString('latin1', at, colon),
        bytes.toString('latin1', start, trimBlanks(bytes, start, lineEnd)),
      );
      at = lineEnd + 2;
    }
    return headers;
  }
}

/** `incomplete`: what is there is the beginning of a head that may be whole later. `other`: not for this reader, whatever comes. */
export type Reading = 'whole' | 'incomplete' | 'other';

/** As much as node:http is told to take. */
const MAX_HEAD_BYTES = 32 * 1024;
/** Browsers send about twenty. */
const MAX_FIELDS = 100;

/** `head` says something only if the whole of it is there. */
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

// What the parts below give instead of the position behind them.
const INCOMPLETE = -1;
const OTHER = -2;

function clear(head: RequestHead): void {
  head.isLast = false;
  head.isPlain = true;
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
  const targetStart = readExactly(bytes, from, to, head.isHead ? HEAD : GET);
  if (targetStart < 0) return targetStart;
  let at = targetStart;
  while (at < to && TARGET[bytes[at] ?? 0] === 1) at++;
  head.targetStart = targetStart;
  head.targetEnd = at;
  if (targetStart < to && bytes[targetStart] !== SLASH) return OTHER; // RFC 9112 §3.2.1
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
  const next = readExactly(bytes, at, to, LINE_END);
  if (next < 0) return next;
  const end = trimBlanks(bytes, start, at);
  // Written in another way, its bytes are not those that the log counts.
  if (start !== colon + 2 || end !== at) head.isPlain = false;
  const field = findField(bytes, from, colon);
  return field === undefined || note(head, field, bytes, start, end) ? next : OTHER;
}

function skipBlanks(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && (bytes[at] === SP || bytes[at] === TAB)) at++;
  return at;
}

function trimBlanks(bytes: Buffer, from: number, to: number): number {
  let at = to;
  while (at > from && (bytes[at - 1] === SP || bytes[at - 1] === TAB)) at--;
  return at;
}

function findField(bytes: Buffer, from: number, to: number): KnownField | undefined {
  const fields = KNOWN_FIELDS[to - from];
  if (fields === undefined) return undefined;
  for (const field of fields) if (isWord(bytes, from, field.name)) return field;
  return undefined;
}

/** In either case; `word` is in lower case. */
function isWord(bytes: Buffer, from: number, word: Uint8Array): boolean {
  // Of what may stand in a name or be asked for here, only letters become letters by this bit.
  for (let i = 0; i < word.length; i++) if (((bytes[from + i] ?? 0) | 0x20) !== word[i]) return false;
  return true;
}

/** False: with this field the request is not for this reader. */
function note(head: RequestHead, { bit, kind }: KnownField, bytes: Buffer, start: number, end: number): boolean {
  if (kind === Kind.notOurs) return false;
  if (kind === Kind.notPlain) {
    head.isPlain = false;
    return true;
  }
  if (kind === Kind.connection) return noteConnection(head, bytes, start, end);
  const isRepeated = (head.seen & bit) !== 0;
  head.seen |= bit;
  if (kind === Kind.host) {
    head.hostStart = start;
    head.hostEnd = end;
    return !isRepeated; // RFC 9112 §3.2
  }
  // To have one that says nothing is not to have none.
  if (isRepeated || (start === end && kind !== Kind.once)) head.isPlain = false;
  notePlace(head, kind, start, end);
  return true;
}

function notePlace(head: RequestHead, kind: Kind, start: number, end: number): void {
  switch (kind) {
    case Kind.userAgent:
      head.userAgentStart = start;
      head.userAgentEnd = end;
      break;
    case Kind.referer:
      head.refererStart = start;
      head.refererEnd = end;
      break;
    case Kind.acceptEncoding:
      head.acceptEncodingStart = start;
      head.acceptEncodingEnd = end;
      break;
    case Kind.ifNoneMatch:
      head.ifNoneMatchStart = start;
      head.ifNoneMatchEnd = end;
      break;
    case Kind.ifModifiedSince:
      head.ifModifiedSinceStart = start;
      head.ifModifiedSinceEnd = end;
      break;
  }
}

/** Anything but these two words may name fields that go no further, or another protocol. */
function noteConnection(head: RequestHead, bytes: Buffer, start: number, end: number): boolean {
  if (end - start === CLOSE.length && isWord(bytes, start, CLOSE)) head.isLast = true;
  else if (end - start !== KEEP_ALIVE.length || !isWord(bytes, start, KEEP_ALIVE)) return false;
  return true;
}

const [TAB, CR, SP, SLASH, COLON] = [0x09, 0x0d, 0x20, 0x2f, 0x3a];
const [GET, HEAD, VERSION, LINE_END] = [bytesOf('GET '), bytesOf('HEAD '), bytesOf(' HTTP/1.1\r\n'), bytesOf('\r\n')];
const [CLOSE, KEEP_ALIVE] = [bytesOf('close'), bytesOf('keep-alive')];

/** RFC 9110 §5.6.2 */
const TOKEN = tableOf(/[!#$%&'*+.^_`|~0-9A-Za-z-]/);
/** RFC 9110 §5.5, blanks included */
const VALUE = tableOf(/[\t\x20-\x7e\x80-\xff]/);
/** What RFC 3986 lets stand there and the visible rest that clients send; no fragment. Bytes beyond ASCII are left to node:http. */
const TARGET = tableOf(/[!-~]/, '#');

/** 1 for each byte that the pattern takes. */
function tableOf(pattern: RegExp, except = ''): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    const text = String.fromCharCode(byte);
    return pattern.test(text) && text !== except ? 1 : 0;
  });
}

const Kind = {
  notOurs: 0,
  notPlain: 1,
  connection: 2,
  once: 3,
  host: 4,
  userAgent: 5,
  referer: 6,
  acceptEncoding: 7,
  ifNoneMatch: 8,
  ifModifiedSince: 9,
} as const;
type Kind = (typeof Kind)[keyof typeof Kind];

interface KnownField {
  /** In lower case. */
  readonly name: Uint8Array;
  readonly kind: Kind;
  /** Its own, where it must not come twice. */
  readonly bit: number;
}

/** By the length of the name. */
const KNOWN_FIELDS = knownFields([
  // A body, another protocol, or an answer before the answer.
  [Kind.notOurs, ['content-length', 'transfer-encoding', 'expect', 'upgrade']],
  // Node's parser takes both for the same field.
  [Kind.connection, ['connection', 'proxy-connection']],
  [Kind.host, ['host']],
  [Kind.userAgent, ['user-agent']],
  [Kind.referer, ['referer']],
  [Kind.acceptEncoding, ['accept-encoding']], // a second line would be joined to the first, and so below
  [Kind.ifNoneMatch, ['if-none-match']],
  [Kind.ifModifiedSince, ['if-modified-since']],
  [
    Kind.notPlain,
    [
      'range', // 206, 416
      'if-match', // past the cache
      'if-unmodified-since',
      'cache-control', // how fresh it must be, and whether it may be coded
      'pragma',
      'via', // whether it has been here before
      'cdn-loop',
      'x-forwarded-for', // from trusted proxies: whose request it is, and whether it came by TLS
      'x-forwarded-proto',
    ],
  ],
  // Nothing that is stored is served otherwise for these, but two of them are refused: the rest of SINGLE_FIELDS in http/request.ts.
  [
    Kind.once,
    [
      'authorization', // counts when a response comes to be stored
      'content-location',
      'content-range',
      'content-type',
      'date',
      'from',
      'if-range', // without Range, which is not plain, it says nothing
      'max-forwards',
      'origin', // matters for OPTIONS, and where the response varies
      'proxy-authorization',
    ],
  ],
]);

function knownFields(
  list: readonly (readonly [Kind, readonly string[]])[],
): readonly (readonly KnownField[] | undefined)[] {
  const byLength: KnownField[][] = [];
  let bit = 1;
  for (const [kind, names] of list) {
    for (const name of names) {
      byLength[name.length] ??= [];
      byLength[name.length]?.push({ name: bytesOf(name), kind, bit });
      if (kind > Kind.connection) bit <<= 1;
    }
  }
  return byLength;
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}
