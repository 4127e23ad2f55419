/** AES-256-GCM encryption with a name as associated data: decryption needs the same key and the same name. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export const AEAD_KEY_BYTES = 32;

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Bytes by which the ciphertext is longer than the plaintext. */
export const AEAD_EXTRA_BYTES = IV_BYTES + TAG_BYTES;

/** Returns IV, ciphertext and tag. */
export function closeBytes(key: Buffer, name: string, plain: Uint8Array): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(name));
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Returns the plaintext. Throws for another key, another name and damaged bytes. */
export function openBytes(key: Buffer, name: string, bytes: Buffer): Buffer {
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(name));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
}
