/**
 * The file in which a machine keeps its ticket secrets, so that clients resume their sessions after a restart, and the
 * rotation that renews them. A reader of the file can decrypt those sessions: it is private, and expired secrets are
 * removed.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { readPrivateFile, replacePrivateFile } from '#lib/private-file.ts';
import { rotateTicketSecrets, TICKET_SECRET_BYTES, type TicketSecret } from './ticket-keys.ts';

/** Returns the secrets, newest first; empty if the file is missing, invalid or accessible to other users. */
export function readTicketSecrets(file: string): readonly TicketSecret[] {
  const found = readPrivateFile(file);
  if (found.kind !== 'text') return []; // missing or not private; the rotation creates new secrets
  try {
    const read: unknown = JSON.parse(found.text);
    return Array.isArray(read) && read.every(isTicketSecret) ? read : [];
  } catch {
    return [];
  }
}

/** Returns a new random secret. */
export function makeTicketSecret(now: number): TicketSecret {
  return { createdAt: now, secret: randomSecret() };
}

export interface TicketRotationOptions {
  readonly file: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called at the start and after each rotation, with the newest secret first. */
  onSecrets(secrets: readonly TicketSecret[]): void;
}

/** Rotates and saves the secrets of the machine. Only one process of a machine may run it. */
export function startTicketRotation({ file, clock, log, onSecrets }: TicketRotationOptions): Disposable {
  let secrets = readTicketSecrets(file);
  const rotate = () => {
    const next = rotateTicketSecrets(secrets, clock(), randomSecret);
    if (next === secrets) return;
    secrets = next;
    try {
      replacePrivateFile(file, JSON.stringify(secrets));
    } catch (error) {
      log.error(
        { err: error, file },
        'cannot save the session ticket secrets; after a restart clients cannot resume their TLS sessions',
      );
    }
    onSecrets(secrets);
  };
  const kept = secrets;
  rotate();
  if (secrets === kept) onSecrets(secrets);
  const timer = setInterval(rotate, CHECK_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

const CHECK_EVERY_MS = 60_000;

function randomSecret(): string {
  return randomBytes(TICKET_SECRET_BYTES).toString('hex');
}

function isTicketSecret(value: unknown): value is TicketSecret {
  // `as`: an object's members are unknown values by their names; each is checked.
  const { createdAt, secret } = Object(value) as Record<keyof TicketSecret, unknown>;
  return typeof createdAt === 'number' && typeof secret === 'string' && SECRET.test(secret);
}

const SECRET = new RegExp(`^[0-9a-f]{${2 * TICKET_SECRET_BYTES}}$`);
