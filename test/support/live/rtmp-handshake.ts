/** The client's side of RTMP's handshake, simple or signed. docs/decisions/0486 */
import {
  COMMON_KEY,
  findDigest,
  HANDSHAKE_END_BYTES,
  HANDSHAKE_START_BYTES,
  type HandshakeSchema,
  PLAYER_NAME,
  PREFIX_BYTES,
  SERVER_KEY,
  SERVER_NAME,
  sign,
  signReply,
  VERSION,
} from '#live/rtmp/handshake.ts';

const PLAYER_KEY = Buffer.concat([PLAYER_NAME, COMMON_KEY]);

/** Returns C0 and C1. `schema` is `undefined` for the simple handshake. `random`: at least 1,536 bytes. */
export function beginHandshake(random: Buffer, schema: HandshakeSchema | undefined): Buffer {
  const body = Buffer.from(random.subarray(0, HANDSHAKE_END_BYTES));
  body.fill(0, 0, PREFIX_BYTES);
  if (schema !== undefined) {
    body.writeUInt32BE(0x09007c02, 4); // Flash Player 9.0.124.2
    sign(body, schema, PLAYER_NAME);
  }
  return Buffer.concat([Buffer.of(VERSION), body]);
}

/**
 * Returns C2 for S0, S1 and S2; `undefined` if a schema is used and the server's bytes are not signed accordingly.
 * `start`: the result of `beginHandshake`.
 */
export function endHandshake(
  start: Buffer,
  answer: Buffer,
  random: Buffer,
  schema: HandshakeSchema | undefined,
): Buffer | undefined {
  const body = answer.subarray(1, HANDSHAKE_START_BYTES);
  if (schema === undefined) return Buffer.from(body);
  const signed = findDigest(body, SERVER_NAME);
  const mine = findDigest(start.subarray(1), PLAYER_NAME);
  const reply = answer.subarray(HANDSHAKE_START_BYTES, HANDSHAKE_START_BYTES + HANDSHAKE_END_BYTES);
  if (signed?.schema !== schema || mine === undefined) return undefined;
  if (!signReply(reply, mine.digest, SERVER_KEY).equals(reply)) return undefined;
  return signReply(random.subarray(0, HANDSHAKE_END_BYTES), signed.digest, PLAYER_KEY);
}
