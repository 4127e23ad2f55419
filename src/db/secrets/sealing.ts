/**
 * Secrets as stored in the database: AES-256-GCM with a random data key, which a key of the ring wraps. A secret sealed
 * for one location (table, row, column) cannot be unsealed in another.
 */
import { randomBytes } from 'node:crypto';
import { AEAD_EXTRA_BYTES, AEAD_KEY_BYTES, closeBytes, openBytes } from '#lib/aead.ts';
import { type Keyring, KeyringError } from './keyring.ts';

export interface SecretLocation {
  readonly table: string;
  /** The row's key; numbers survive an export. */
  readonly row: string | number;
  readonly column: string;
}

const VERSION = 'v1';
/** Characters of sealed text that name the version and the key. */
export const SEALED_PREFIX_CHARS = 'v1.0123456789abcdef.'.length;
const WRAPPED_BYTES = AEAD_KEY_BYTES + AEAD_EXTRA_BYTES;

/** Seals a secret as text: `v1.<key id>.<base64url>`. */
export function seal(ring: Keyring, place: SecretLocation, secret: Uint8Array): string {
  const dataKey = randomBytes(AEAD_KEY_BYTES);
  return wrap(ring, place, dataKey, closeBytes(dataKey, dataName(place), secret));
}

/** Throws `KeyringError` if the key is not in the ring, the location differs, or the text is damaged. */
export function unseal(ring: Keyring, place: SecretLocation, sealed: string): Buffer {
  const { dataKey, closed } = unwrap(ring, place, sealed);
  return openOrRefuse(place, dataKey, dataName(place), closed);
}

/** Reseals a secret with the newest key: only its data key is wrapped again. Throws like `unseal`. */
export function sealAnew(ring: Keyring, place: SecretLocation, sealed: string): string {
  const { dataKey, closed } = unwrap(ring, place, sealed);
  return wrap(ring, place, dataKey, closed);
}

/** Returns the id of the key that sealed the secret. */
export function sealedWith(sealed: string): string {
  return sealed.split('.')[1] ?? '';
}

function wrap(ring: Keyring, place: SecretLocation, dataKey: Buffer, closed: Buffer): string {
  const { id, key } = ring.newest;
  const wrapped = closeBytes(key, wrapName(place, id), dataKey);
  return [VERSION, id, Buffer.concat([wrapped, closed]).toString('base64url')].join('.');
}

function unwrap(ring: Keyring, place: SecretLocation, sealed: string) {
  const [version, id = '', encoded = ''] = sealed.split('.');
  if (version !== VERSION)
    throw new KeyringError(`${describeLocation(place)} is sealed in a way that this release does not know`);
  const kek = ring.find(id);
  if (kek === undefined)
    throw new KeyringError(`${describeLocation(place)} is sealed with the key ${id}, which is not in the key ring`);
  const bytes = Buffer.from(encoded, 'base64url');
  const dataKey = openOrRefuse(place, kek.key, wrapName(place, id), bytes.subarray(0, WRAPPED_BYTES));
  return { dataKey, closed: bytes.subarray(WRAPPED_BYTES) };
}

function openOrRefuse(place: SecretLocation, key: Buffer, name: string, closed: Buffer): Buffer {
  try {
    return openBytes(key, name, closed);
  } catch (error) {
    const what = `${describeLocation(place)} does not open: it was moved there from another row, or is damaged`;
    throw new KeyringError(what, { cause: error });
  }
}

function describeLocation({ table, row, column }: SecretLocation): string {
  return `the secret in ${table}.${column} of ${row}`;
}

/** Associated data of the secret; unambiguous for any names. */
function dataName({ table, row, column }: SecretLocation): string {
  return JSON.stringify([VERSION, table, String(row), column]);
}

function wrapName(place: SecretLocation, keyId: string): string {
  return `${dataName(place)} ${keyId}`;
}
