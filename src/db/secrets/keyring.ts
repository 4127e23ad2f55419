/**
 * The ring of key-encryption keys: a separate file, readable only by the service's user, and not part of database
 * backups. The newest key seals; older keys unseal their own secrets.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { AEAD_KEY_BYTES } from '#lib/aead.ts';
import { makePrivateFile, readPrivateFile, replacePrivateFile } from '#lib/private-file.ts';

export interface KeyEncryptionKey {
  /** 16 hex digits. */
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

export interface Keyring {
  /** The newest key, reread from the file, so that removed keys are never used. Throws `KeyringError`. */
  readonly newest: KeyEncryptionKey;
  /**
   * Check value of each key by its id, which does not reveal the key: rings that are to be the same are compared by
   * them. Rereads the file. Throws `KeyringError`.
   */
  checks(): Readonly<Record<string, string>>;
  /** Finds a key. Rereads the file for an unknown id, since another process may have added it. */
  find(id: string): KeyEncryptionKey | undefined;
  /** Creates a key and adds it to the file as the newest. Throws `KeyringError`. */
  add(): KeyEncryptionKey;
}

/** The message says what to do and never contains a key. */
export class KeyringError extends Error {}

const FORMAT = 'causeway-keyring-1';

/** Throws `KeyringError`. */
export function loadKeyring(file: string): Keyring {
  let keys = readKeys(file);
  const find = (id: string) => keys.all.find((key) => key.id === id);
  return {
    get newest() {
      keys = readKeys(file);
      return keys.newest;
    },
    checks() {
      keys = readKeys(file);
      return Object.fromEntries(keys.all.map(({ id, key }) => [id, checkValueOf(key)]));
    },
    find(id) {
      if (find(id) === undefined && readPrivateFile(file).kind === 'text') keys = readKeys(file);
      return find(id);
    },
    add() {
      replacePrivateFile(file, `${readPrivate(file).trimEnd()}\n${newKeyLine()}\n`);
      keys = readKeys(file);
      return keys.newest;
    },
  };
}

/** Creates the file with a new key if it is missing. Throws `KeyringError`. */
export function loadOrMakeKeyring(file: string): Keyring {
  if (readPrivateFile(file).kind === 'missing') makePrivateFile(file, `${FORMAT}\n${newKeyLine()}\n`);
  return loadKeyring(file);
}

interface Keys {
  readonly newest: KeyEncryptionKey;
  readonly all: readonly KeyEncryptionKey[];
}

function readKeys(file: string): Keys {
  const [format, ...lines] = readPrivate(file).trimEnd().split('\n');
  if (format !== FORMAT)
    throw new KeyringError(`the key ring ${file} does not begin with ${FORMAT}: it is not one, or of a newer release`);
  const keys = lines.map((line, index) => {
    const [id = '', encoded = '', check = checkOf(id, encoded), ...more] = line.split(' ');
    const key = Buffer.from(encoded, 'base64');
    const isWhole = /^[0-9a-f]{16}$/.test(id) && key.length === AEAD_KEY_BYTES && check === checkOf(id, encoded);
    if (!isWhole || more.length > 0) {
      throw new KeyringError(`the key ring ${file} is damaged in line ${index + 2}: restore it from a copy`);
    }
    return { id, key };
  });
  const newest = keys.at(-1);
  if (newest === undefined) throw new KeyringError(`the key ring ${file} holds no key: restore it from a copy`);
  return { newest, all: keys };
}

function checkValueOf(key: Buffer): string {
  return createHmac('sha256', key).update('causeway key ring check').digest('hex').slice(0, 32);
}

function readPrivate(file: string): string {
  const read = readPrivateFile(file);
  switch (read.kind) {
    case 'text':
      return read.text;
    case 'missing':
      throw new KeyringError(
        `the key ring ${file} is missing: restore it from a copy; without it no stored secret can be read`,
      );
    case 'exposed':
      throw new KeyringError(
        `the key ring ${file} may be read by others (mode ${read.mode}): make it private with chmod 600`,
      );
    case 'unreadable':
      throw new KeyringError(`the key ring ${file} cannot be read: ${read.reason}`);
  }
}

function newKeyLine(): string {
  const [id, encoded] = [randomBytes(8).toString('hex'), randomBytes(AEAD_KEY_BYTES).toString('base64')];
  return `${id} ${encoded} ${checkOf(id, encoded)}`;
}

/** Checksum of a key: a corrupted key would seal secrets that the right one cannot unseal. The first rings had none. */
function checkOf(id: string, encoded: string): string {
  return createHash('sha256').update(`${id} ${encoded}`).digest('hex').slice(0, CHECK_CHARS);
}

const CHECK_CHARS = 8;
