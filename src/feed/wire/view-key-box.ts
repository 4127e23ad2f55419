/**
 * Seals a view key to one edge, and secrets under a view key: X25519 with an ephemeral key, HKDF-SHA-256, AES-256-GCM.
 * Pure. docs/decisions/0594
 */
import { createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync, type KeyObject } from 'node:crypto';
import { AEAD_KEY_BYTES, closeBytes, openBytes } from '#lib/aead.ts';

const INFO = 'causeway view key v1';
const PUBLIC_KEY_BYTES = 32;

/** A view key as it travels to one edge; all texts but the id are base64. */
export interface SealedViewKey {
  readonly vk: string;
  /** Raw public key of the exchange. */
  readonly ephemeral: string;
  readonly sealed: string;
}

/** The certificate that a view key is sealed to. */
export interface KeyRecipient {
  readonly edge: string;
  readonly serial: string;
}

/** Parses a raw X25519 public key, base64; `undefined` if the text is not one. */
export function parseSealKey(text: string): KeyObject | undefined {
  const raw = Buffer.from(text, 'base64');
  if (raw.length !== PUBLIC_KEY_BYTES || raw.toString('base64') !== text) return undefined;
  return createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: raw.toString('base64url') }, format: 'jwk' });
}

/** Returns the raw public key of an X25519 key, base64. */
export function formatSealKey(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url').toString('base64');
}

/** Throws if the public key is one of the few that give no secret. */
export function sealViewKey(
  { id, key }: { readonly id: string; readonly key: Buffer },
  to: KeyObject,
  recipient: KeyRecipient,
): SealedViewKey {
  const pair = generateKeyPairSync('x25519');
  const ephemeral = formatSealKey(pair.publicKey);
  const wrap = wrapKey(diffieHellman({ privateKey: pair.privateKey, publicKey: to }), ephemeral, formatSealKey(to));
  return { vk: id, ephemeral, sealed: closeBytes(wrap, nameOf(id, recipient), key).toString('base64') };
}

/** Throws if it was sealed to another key or certificate, or is damaged. */
export function openViewKey({ vk, ephemeral, sealed }: SealedViewKey, own: KeyObject, recipient: KeyRecipient): Buffer {
  const publicKey = parseSealKey(ephemeral);
  if (publicKey === undefined) throw new Error('ephemeral: expected a public key');
  const wrap = wrapKey(diffieHellman({ privateKey: own, publicKey }), ephemeral, formatSealKey(own));
  return openBytes(wrap, nameOf(vk, recipient), Buffer.from(sealed, 'base64'));
}

/** What a secret belongs to; it opens for nothing else. */
export interface SecretPlace {
  readonly kind: string;
  readonly key: string;
  readonly revision: number;
  /** Id of the view key. */
  readonly vk: string;
}

/** Returns base64. */
export function sealUnder(viewKey: Buffer, place: SecretPlace, text: string): string {
  return closeBytes(viewKey, placeName(place), Buffer.from(text)).toString('base64');
}

/** Throws if it was sealed under another key or for another place, or is damaged. */
export function openUnder(viewKey: Buffer, place: SecretPlace, sealed: string): string {
  return openBytes(viewKey, placeName(place), Buffer.from(sealed, 'base64')).toString('utf8');
}

function wrapKey(secret: Buffer, ephemeral: string, recipient: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, `${ephemeral} ${recipient}`, INFO, AEAD_KEY_BYTES));
}

function nameOf(vk: string, { edge, serial }: KeyRecipient): string {
  return JSON.stringify([vk, edge, serial]);
}

function placeName({ kind, key, revision, vk }: SecretPlace): string {
  return JSON.stringify([vk, kind, key, revision]);
}
