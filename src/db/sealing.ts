/**
 * Secrets as they lie in the database: AES-256-GCM under a random data key, which is wrapped by a key of the ring. What was
 * sealed for one place (table, row, column) opens nowhere else.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type Keyring, KeyringError } from './keyring.ts';

export interface SecretPlace {
  readonly table: string;
  /** The row's key; a number stays the same after a dump. */
  readonly row: string | number;
  readonly column: string;
}

const VERSION = 'v1';
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const WRAPPED_BYTES = IV_BYTES + KEY_BYTES + TAG_BYTES;

/** Gives text that may be stored anywhere: `v1.<key id>.<base64url>`. */
export function seal(ring: Keyring, place: SecretPlace, secret: Uint8Array): string {
  const { id, key } = ring.newest;
  const dataKey = randomBytes(KEY_BYTES);
  const wrapped = encrypt(key, wrapName(place, id), dataKey);
  return [VERSION, id, Buffer.concat([wrapped, encrypt(dataKey, dataName(place), secret)]).toString('base64url')].join(
    '.',
  );
}

/** Throws `KeyringError`: a key that is not in the ring, another place, or damage. */
export function unseal(ring: Keyring, place: SecretPlace, sealed: string): Buffer {
  const [version, id = '', encoded = ''] = sealed.split('.');
  const where = `the secret in ${place.table}.${place.column} of ${place.row}`;
  if (version !== VERSION) throw new KeyringError(`${where} is sealed in a way that this release does not know`);
  const kek = ring.find(id);
  if (kek === undefined) throw new KeyringError(`${where} is sealed with the key ${id}, which is not in the key ring`);
  const bytes = Buffer.from(encoded, 'base64url');
  try {
    const dataKey = decrypt(kek.key, wrapName(place, id), bytes.subarray(0, WRAPPED_BYTES));
    return decrypt(dataKey, dataName(place), bytes.subarray(WRAPPED_BYTES));
  } catch (error) {
    throw new KeyringError(`${where} does not open: it was moved there from another row, or is damaged`, {
      cause: error,
    });
  }
}

/** The id of the key that it was sealed with. */
export function sealedWith(sealed: string): string {
  return sealed.split('.')[1] ?? '';
}

/** IV, ciphertext, tag. */
function encrypt(key: Buffer, name: string, plain: Uint8Array): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(name));
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, name: string, bytes: Buffer): Buffer {
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(name));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** Unambiguous whatever the names hold. */
function dataName({ table, row, column }: SecretPlace): string {
  return JSON.stringify([VERSION, table, String(row), column]);
}

function wrapName(place: SecretPlace, keyId: string): string {
  return `${dataName(place)} ${keyId}`;
}
