/** Parses messages about view keys, and sealed bodies. */
import { parseJson, readBoundedText, readItems, readMembers } from './messages.ts';
import { MAX_VIEW_KEY_IDS, type SealedBody } from './protocol.ts';
import type { SealedViewKey } from './view-key-box.ts';

const MAX_ID_CHARS = 64;
const MAX_SEALED_CHARS = 200;

/** Parses a view key that was sealed to this edge. This and the next two throw `MessageError`. */
export function parseViewKey(text: string): SealedViewKey {
  return readViewKey(parseJson(text));
}

export function parseSealedKeys(text: string): readonly SealedViewKey[] {
  return readItems('keys', readMembers('answer', parseJson(text))['keys'], MAX_VIEW_KEY_IDS).map(readViewKey);
}

/** Parses a request for view keys; returns their ids. */
export function parseViewKeyRequest(text: string): readonly string[] {
  const ids = readItems('ids', readMembers('request', parseJson(text))['ids'], MAX_VIEW_KEY_IDS);
  return ids.map((id) => readBoundedText('ids', id, MAX_ID_CHARS));
}

/** Returns the sealed body of a resource; `undefined` if nothing in it is sealed. */
export function readSealedBody(body: unknown): SealedBody | undefined {
  // `as`: an object's members are unknown values by their names; each is checked.
  const { certificate, vk, sealed } = Object(body) as Record<keyof SealedBody, unknown>;
  if (typeof vk !== 'string' || typeof sealed !== 'string') return undefined;
  return { vk, sealed, ...(typeof certificate === 'string' && { certificate }) };
}

function readViewKey(value: unknown): SealedViewKey {
  const members = readMembers('key', value);
  return {
    vk: readBoundedText('vk', members['vk'], MAX_ID_CHARS),
    ephemeral: readBoundedText('ephemeral', members['ephemeral'], MAX_SEALED_CHARS),
    sealed: readBoundedText('sealed', members['sealed'], MAX_SEALED_CHARS),
  };
}
