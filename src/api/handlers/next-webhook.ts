/** The webhook that follows from a request to set one. */
import { randomBytes } from 'node:crypto';
import type { StoredWebhook, Webhook } from '#model/webhook.ts';

const SECRET_BYTES = 32;

/** Returns `undefined` for an empty URL. The secret stays with another URL, unless it is rotated or missing. */
export function nextWebhook(
  before: StoredWebhook | undefined,
  { url, isRotated }: { readonly url: string; readonly isRotated: boolean },
): Webhook | undefined {
  const kept = isRotated ? undefined : before?.secret;
  return url === '' ? undefined : { url, secret: kept ?? randomBytes(SECRET_BYTES).toString('hex') };
}
