/**
 * The ring of key-encryption keys: a file of its own, readable by the service's user only, in no backup of the database.
 * The newest key seals; older ones open what they have sealed.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

export interface KeyEncryptionKey {
  /** 16 hex digits. */
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

export interface Keyring {
  readonly newest: KeyEncryptionKey;
  find(id: string): KeyEncryptionKey | undefined;
}

/** Its message says what to do; it never holds a key. */
export class KeyringError extends Error {}

const FORMAT = 'causeway-keyring-1';
const KEY_BYTES = 32;

/** Throws `KeyringError`. */
export function loadKeyring(file: string): Keyring {
  return parseKeyring(file, readPrivate(file));
}

/** Makes the file with one new key when there is none. Throws `KeyringError`. */
export function loadOrMakeKeyring(file: string): Keyring {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) makeFile(file, `${FORMAT}\n${newKeyLine()}\n`);
  return loadKeyring(file);
}

function parseKeyring(file: string, text: string): Keyring {
  const [format, ...lines] = text.trimEnd().split('\n');
  if (format !== FORMAT)
    throw new KeyringError(`the key ring ${file} does not begin with ${FORMAT}: it is not one, or of a newer release`);
  const keys = lines.map((line, index) => {
    const [id = '', encoded = '', ...more] = line.split(' ');
    const key = Buffer.from(encoded, 'base64');
    if (!/^[0-9a-f]{16}$/.test(id) || key.length !== KEY_BYTES || more.length > 0) {
      throw new KeyringError(`the key ring ${file} is damaged in line ${index + 2}: restore it from a copy`);
    }
    return { id, key };
  });
  const newest = keys.at(-1);
  if (newest === undefined) throw new KeyringError(`the key ring ${file} holds no key: restore it from a copy`);
  return { newest, find: (id) => keys.find((key) => key.id === id) };
}

function readPrivate(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) {
    throw new KeyringError(
      `the key ring ${file} is missing: restore it from a copy; without it no stored secret can be read`,
    );
  }
  if ((found.mode & 0o077) !== 0) {
    const mode = (found.mode & 0o777).toString(8);
    throw new KeyringError(`the key ring ${file} may be read by others (mode ${mode}): make it private with chmod 600`);
  }
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new KeyringError(`the key ring ${file} cannot be read: ${reason}`, { cause: error });
  }
}

function newKeyLine(): string {
  return `${randomBytes(8).toString('hex')} ${randomBytes(KEY_BYTES).toString('base64')}`;
}

/** Whole or not at all; who comes second finds the first one's. */
function makeFile(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = openSync(temporary, 'wx', 0o600);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  try {
    linkSync(temporary, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}
