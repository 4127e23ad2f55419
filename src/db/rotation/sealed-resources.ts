/** Feed resources with a secret, sealed in one member of their body. */
import { LIVE_KEYS_KIND } from '#model/live-stream.ts';
import type { SecretLocation } from '../secrets/sealing.ts';
import { CERTIFICATE_KIND, privateKeyLocation } from '../tables/certificates.ts';
import { liveKeysLocation } from '../tables/live/keys.ts';

export interface SealedResource {
  readonly kind: string;
  readonly member: string;
  /** Location of the secret of the resource with this key. */
  readonly locationOf: (key: string) => SecretLocation;
}

export const SEALED_RESOURCES: readonly SealedResource[] = [
  { kind: CERTIFICATE_KIND, member: 'key', locationOf: privateKeyLocation },
  { kind: LIVE_KEYS_KIND, member: 'sealed', locationOf: (key) => liveKeysLocation(Number(key)) },
];
