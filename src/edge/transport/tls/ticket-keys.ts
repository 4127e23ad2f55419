/**
 * What seals session tickets. One secret per machine and half day, shared by its workers; each certificate has keys of its own
 * made of it, so a ticket opens only where the client was shown that very certificate. docs/decisions/0181. Pure.
 */
import { hkdfSync } from 'node:crypto';
import { TICKET_KEY_NAME_BYTES } from './client-hello.ts';

export interface TicketSecret {
  readonly createdAt: number;
  /** 32 random bytes in hexadecimal. */
  readonly secret: string;
}

/** A new secret begins after it. */
export const ROTATE_TICKETS_MS = 12 * 3600 * 1000;
/** Lifetime of a ticket: one rotation, so that a ticket is valid under the previous secret and no longer. */
export const TICKET_LIFETIME_SECONDS = ROTATE_TICKETS_MS / 1000;
export const TICKET_SECRET_BYTES = 32;

/**
 * The secrets at `now`, the newest first: a new one when it is time, and the one before, whose tickets are not all past
 * their life. The same list when nothing changes. `random` is asked only for a new secret.
 */
export function rotateTicketSecrets(
  secrets: readonly TicketSecret[],
  now: number,
  random: () => string,
): readonly TicketSecret[] {
  const [newest] = secrets;
  // A clock that was set back says nothing about a secret's age.
  const isCurrent = newest !== undefined && Math.abs(now - newest.createdAt) < ROTATE_TICKETS_MS;
  const kept = secrets.filter(({ createdAt }) => Math.abs(now - createdAt) < 2 * ROTATE_TICKETS_MS);
  if (isCurrent) return kept.length === secrets.length ? secrets : kept;
  return [{ createdAt: now, secret: random() }, ...kept.slice(0, 1)];
}

export interface TicketKeys {
  /** Name with which a ticket of theirs begins, in hexadecimal. */
  readonly name: string;
  /** Bytes as OpenSSL takes them. */
  readonly bytes: Buffer;
}

/** `use`: what the tickets are good for; another use has other keys. */
export function deriveTicketKeys({ secret }: TicketSecret, use: string): TicketKeys {
  const bytes = Buffer.from(
    hkdfSync('sha256', Buffer.from(secret, 'hex'), '', `causeway tickets ${use}`, TICKET_KEYS_BYTES),
  );
  return { name: bytes.toString('hex', 0, TICKET_KEY_NAME_BYTES), bytes };
}

/** A name, a key for the code and one for the cipher. */
const TICKET_KEYS_BYTES = 48;
