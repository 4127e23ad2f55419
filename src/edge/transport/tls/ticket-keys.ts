/**
 * Keys of session tickets. A machine has one secret per half day, shared by its workers. Each certificate has its own
 * keys derived from it, so that a ticket is valid only with the certificate that the client was shown.
 * docs/decisions/0181. Pure.
 */
import { hkdfSync } from 'node:crypto';
import { TICKET_KEY_NAME_BYTES } from './client-hello.ts';

export interface TicketSecret {
  readonly createdAt: number;
  /** 32 random bytes in hexadecimal. */
  readonly secret: string;
}

/** Age at which a new secret is created. */
export const ROTATE_TICKETS_MS = 12 * 3600 * 1000;
/** Lifetime of a ticket: one rotation, so that a ticket is valid under the previous secret and no longer. */
export const TICKET_LIFETIME_SECONDS = ROTATE_TICKETS_MS / 1000;
export const TICKET_SECRET_BYTES = 32;

/**
 * Returns the secrets at `now`, newest first: a new one if it is due, and the previous one, whose tickets may still be
 * valid. Returns the same list if nothing changes. `random` is called only for a new secret.
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
  /** Key name at the start of each ticket, in hexadecimal. */
  readonly name: string;
  /** The keys in OpenSSL's format. */
  readonly bytes: Buffer;
}

/** `use`: the certificates that the tickets are valid for; each use has its own keys. */
export function deriveTicketKeys({ secret }: TicketSecret, use: string): TicketKeys {
  const bytes = Buffer.from(
    hkdfSync('sha256', Buffer.from(secret, 'hex'), '', `causeway tickets ${use}`, TICKET_KEYS_BYTES),
  );
  return { name: bytes.toString('hex', 0, TICKET_KEY_NAME_BYTES), bytes };
}

/** A key name, a MAC key and a cipher key. */
const TICKET_KEYS_BYTES = 48;
