/**
 * DNS cookies (RFC 7873): a client that shows the cookie of this server has its own address, so that it cannot be the victim
 * of an amplification.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { clientNetwork } from '#lib/cidr.ts';

const CLIENT_BYTES = 8;
const TIME_BYTES = 4;
const TAG_BYTES = 8;
/** RFC 9018 §4.3 */
const MAX_AGE_SECONDS = 3600;
const MAX_AHEAD_SECONDS = 300;

export interface Cookies {
  /** Returns the cookie for a response: the client's own part, then the server's. */
  make(asked: Buffer, client: string, now: number): Buffer;
  /** Whether the server's part is ours, for this client. */
  isOurs(asked: Buffer, client: string, now: number): boolean;
}

export function createCookies(secret: Buffer): Cookies {
  const tagOf = (clientPart: Buffer, time: Buffer, client: string) =>
    createHmac('sha256', secret)
      .update(clientPart)
      .update(time)
      .update(clientNetwork(client))
      .digest()
      .subarray(0, TAG_BYTES);
  return {
    make(asked, client, now) {
      const clientPart = asked.subarray(0, CLIENT_BYTES);
      const time = Buffer.alloc(TIME_BYTES);
      time.writeUInt32BE(Math.floor(now / 1000) % 2 ** 32);
      return Buffer.concat([clientPart, time, tagOf(clientPart, time, client)]);
    },
    isOurs(asked, client, now) {
      if (asked.length !== CLIENT_BYTES + TIME_BYTES + TAG_BYTES) return false;
      const clientPart = asked.subarray(0, CLIENT_BYTES);
      const time = asked.subarray(CLIENT_BYTES, CLIENT_BYTES + TIME_BYTES);
      const ageSeconds = Math.floor(now / 1000) - time.readUInt32BE(0);
      if (ageSeconds > MAX_AGE_SECONDS || ageSeconds < -MAX_AHEAD_SECONDS) return false;
      return timingSafeEqual(asked.subarray(CLIENT_BYTES + TIME_BYTES), tagOf(clientPart, time, client));
    },
  };
}
