/**
 * RTMP's handshake: the simple one of the specification (§5.2), and the complex one of Flash players and encoders, in
 * which each side signs its bytes with a publicly known key. Pure: random bytes are passed in. docs/decisions/0486
 */
import { createHmac } from 'node:crypto';

/** C0 and C1 together, and S0 and S1. */
export const HANDSHAKE_START_BYTES = 1 + 1536;
/** C2, and S2. */
export const HANDSHAKE_END_BYTES = 1536;

export const VERSION = 3;
const BODY_BYTES = 1536;
const DIGEST_BYTES = 32;
/** Size of the time and version that precede the random bytes. */
export const PREFIX_BYTES = 8;

export const COMMON_KEY = Buffer.from('f0eec24a8068bee82e00d0d1029e7e576eec5d2d29806fab93b8e636cfeb31ae', 'hex');
export const SERVER_NAME = Buffer.from('Genuine Adobe Flash Media Server 001', 'latin1');
export const PLAYER_NAME = Buffer.from('Genuine Adobe Flash Player 001', 'latin1');
export const SERVER_KEY = Buffer.concat([SERVER_NAME, COMMON_KEY]);

/** Offsets, by schema, of the four bytes that encode the position of the digest. */
const SCHEMAS = [8, 772] as const;
export type HandshakeSchema = 0 | 1;

/** Whether the first byte of a connection is one of RTMP without encryption. */
export function isHandshakeVersion(first: number): boolean {
  return first === VERSION;
}

/**
 * Returns S0, S1 and S2 for C0 and C1 (`HANDSHAKE_START_BYTES`). A client that signs its bytes gets signed ones in its
 * own schema; any other gets its bytes back. `random`: at least 3,072 bytes.
 */
export function answerHandshake(start: Buffer, random: Buffer): Buffer {
  const body = start.subarray(1, HANDSHAKE_START_BYTES);
  const own = Buffer.from(random.subarray(0, BODY_BYTES));
  own.fill(0, 0, PREFIX_BYTES);
  const signed = findDigest(body, PLAYER_NAME);
  if (signed === undefined) return Buffer.concat([Buffer.of(VERSION), own, body]);
  own.writeUInt32BE(SERVER_VERSION, 4);
  sign(own, signed.schema, SERVER_NAME);
  const reply = signReply(random.subarray(BODY_BYTES, 2 * BODY_BYTES), signed.digest, SERVER_KEY);
  return Buffer.concat([Buffer.of(VERSION), own, reply]);
}

/** Version that announces the complex handshake; the simple one has zeros. */
const SERVER_VERSION = 0x04050001;

interface Signed {
  readonly schema: HandshakeSchema;
  readonly digest: Buffer;
}

/** Returns `undefined` if the bytes are not signed with this key. */
export function findDigest(body: Buffer, key: Buffer): Signed | undefined {
  for (const schema of [0, 1] as const) {
    const at = digestOffset(body, schema);
    const digest = body.subarray(at, at + DIGEST_BYTES);
    if (digestOf(body, at, key).equals(digest)) return { schema, digest };
  }
  return undefined;
}

/** Signs the bytes of C1 or S1 in place. */
export function sign(body: Buffer, schema: HandshakeSchema, key: Buffer): void {
  const at = digestOffset(body, schema);
  digestOf(body, at, key).copy(body, at);
}

/** Returns the digest's offset in the body: 0 to 727 bytes after the four bytes that encode it. */
function digestOffset(body: Buffer, schema: HandshakeSchema): number {
  const at = SCHEMAS[schema];
  const sum = body.readUInt8(at) + body.readUInt8(at + 1) + body.readUInt8(at + 2) + body.readUInt8(at + 3);
  return at + 4 + (sum % 728);
}

/** Computes the HMAC of the body without the digest's own bytes. */
function digestOf(body: Buffer, at: number, key: Buffer): Buffer {
  return createHmac('sha256', key)
    .update(body.subarray(0, at))
    .update(body.subarray(at + DIGEST_BYTES))
    .digest();
}

/** Returns C2 or S2: random bytes that end with their signature, whose key is derived from the peer's digest. */
export function signReply(random: Buffer, digest: Buffer, key: Buffer): Buffer {
  const reply = Buffer.from(random);
  const own = createHmac('sha256', key).update(digest).digest();
  const signedBytes = BODY_BYTES - DIGEST_BYTES;
  createHmac('sha256', own).update(reply.subarray(0, signedBytes)).digest().copy(reply, signedBytes);
  return reply;
}
