/**
 * Classifies the first bytes of a connection to the HTTPS port: a ClientHello, plain HTTP by mistake, or something
 * else. Pure. docs/decisions/0432
 */
import type { Alert } from './alerts.ts';

export type FirstBytes =
  /** `neededBytes`: total bytes of the connection before which reading again is pointless. */
  | { readonly kind: 'incomplete'; readonly neededBytes: number }
  | { readonly kind: 'malformed'; readonly alert: Alert }
  /** A method followed by a space. */
  | { readonly kind: 'plainHttp' }
  /** The client ends the connection with an alert, which is not answered. */
  | { readonly kind: 'ended' }
  /** A ClientHello, without the header of its message. */
  | { readonly kind: 'message'; readonly message: Buffer };

/** Largest hello on the wire. Hellos have some hundred bytes, and up to two thousand with a post-quantum key. */
const MAX_HELLO_BYTES = 5 + 16 * 1024;

/** `bytes`: everything received on the connection so far. */
export function readFirstBytes(bytes: Buffer): FirstBytes {
  const first = bytes[0];
  if (first === undefined) return incomplete(1);
  if (first === HANDSHAKE) return joinRecords(bytes);
  if (first === ALERT) return readAlert(bytes);
  return isSslVersion2(bytes) ? malformed('protocolVersion') : readRequest(bytes);
}

/** A handshake message may come in several records, of any size. RFC 8446 §5.1 */
function joinRecords(bytes: Buffer): FirstBytes {
  const parts: Buffer[] = [];
  let joined = 0;
  let endsAt: number | undefined; // end of the message within the joined records
  for (let at = 0; ; ) {
    const record = readRecord(bytes, at);
    if (record.kind !== 'record') return record;
    const { part, end } = record;
    parts.push(part);
    joined += part.length;
    if (endsAt === undefined) {
      const header = join(parts);
      if (header.length > 0 && header[0] !== CLIENT_HELLO) return malformed('unexpectedMessage');
      if (joined >= MESSAGE_HEADER_BYTES) endsAt = MESSAGE_HEADER_BYTES + header.readUIntBE(1, 3);
    }
    if (endsAt !== undefined && joined >= endsAt) {
      return { kind: 'message', message: join(parts).subarray(MESSAGE_HEADER_BYTES, endsAt) };
    }
    if (end > MAX_HELLO_BYTES || (endsAt ?? 0) > MAX_HELLO_BYTES) return malformed('decodeError');
    if (bytes.length < end) return incomplete(Math.min(end, bytes.length + (endsAt ?? MESSAGE_HEADER_BYTES) - joined));
    at = end;
  }
}

/** Joins the parts; a single part, the usual case, is not copied. */
function join(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : Buffer.concat(parts);
}

type Record =
  | Extract<FirstBytes, { readonly kind: 'incomplete' | 'malformed' }>
  /** `part`: the received part of the record; `end`: offset of the next record. */
  | { readonly kind: 'record'; readonly part: Buffer; readonly end: number };

function readRecord(bytes: Buffer, at: number): Record {
  const { [at]: type = HANDSHAKE, [at + 1]: major = MAJOR_VERSION } = bytes;
  if (type !== HANDSHAKE) return malformed('unexpectedMessage');
  if (major !== MAJOR_VERSION) return malformed('protocolVersion');
  const start = at + RECORD_HEADER_BYTES;
  if (bytes.length < start) return incomplete(start);
  const sizeBytes = bytes.readUInt16BE(at + 3);
  if (sizeBytes === 0) return malformed('unexpectedMessage'); // handshake records must not be empty. RFC 8446 §5.1
  if (sizeBytes > MAX_RECORD_BYTES) return malformed('recordOverflow');
  return { kind: 'record', part: bytes.subarray(start, start + sizeBytes), end: start + sizeBytes };
}

const [ALERT, HANDSHAKE, CLIENT_HELLO, MAJOR_VERSION] = [21, 22, 1, 3] as const;
const RECORD_HEADER_BYTES = 5;
const MESSAGE_HEADER_BYTES = 4;
const ALERT_BYTES = 2;
/** RFC 8446 §5.1 */
const MAX_RECORD_BYTES = 16 * 1024;

function readAlert(bytes: Buffer): FirstBytes {
  const [, major = MAJOR_VERSION] = bytes;
  if (major !== MAJOR_VERSION) return malformed('protocolVersion');
  if (bytes.length < RECORD_HEADER_BYTES) return incomplete(RECORD_HEADER_BYTES);
  return bytes.readUInt16BE(3) === ALERT_BYTES ? { kind: 'ended' } : malformed('decodeError');
}

/**
 * Whether the bytes are an SSL 2.0 hello: two bytes of length with the first bit set, then the type. RFC 5246 appendix
 * E.2
 */
function isSslVersion2(bytes: Buffer): boolean {
  const [first = 0, , type = CLIENT_HELLO] = bytes;
  return first >= 0x80 && type === CLIENT_HELLO;
}

/** Recognizes a request line (RFC 9112 §3); leading empty lines are skipped (§2.2). */
function readRequest(bytes: Buffer): FirstBytes {
  const text = bytes.toString('latin1', 0, MAX_METHOD_CHARS + MAX_EMPTY_CHARS + 1);
  if (/^[\r\n]{0,4}[A-Za-z][\w!#$%&'*+.^`|~-]{0,31} /.test(text)) return { kind: 'plainHttp' };
  const isBegun = /^[\r\n]{0,4}(?:[A-Za-z][\w!#$%&'*+.^`|~-]{0,31})?$/.test(text);
  return isBegun ? incomplete(bytes.length + 1) : malformed('unexpectedMessage');
}

/** More than twice as long as any registered method. */
const MAX_METHOD_CHARS = 32;
const MAX_EMPTY_CHARS = 4;

function incomplete(neededBytes: number) {
  return { kind: 'incomplete', neededBytes } as const;
}

function malformed(alert: Alert) {
  return { kind: 'malformed', alert } as const;
}
