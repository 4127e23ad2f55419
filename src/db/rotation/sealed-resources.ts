/** Resources of the feed that hold a secret: it lies sealed in one member of their body. */
import { LIVE_KEYS_KIND } from '#model/live-stream.ts';
import type { SecretPlace } from '../secrets/sealing.ts';
import { CERTIFICATE_KIND, privateKeyPlace } from '../tables/certificates.ts';
import { liveKeysPlace } from '../tables/live/keys.ts';

interface SealedResource {
  readonly kind: string;
  readonly member: string;
  /** `key`: of the resource. */
  readonly placeOf: (key: string) => SecretPlace;
}

export const SEALED_RESOURCES: readonly SealedResource[] = [
  { kind: CERTIFICATE_KIND, member: 'key', placeOf: privateKeyPlace },
  { kind: LIVE_KEYS_KIND, member: 'sealed', placeOf: (key) => liveKeysPlace(Number(key)) },
];
