/** Feed resources with a secret, sealed in one member of their body. */

import { SINK_KIND } from '#model/line-sink.ts';
import { LIVE_KEYS_KIND } from '#model/live-stream.ts';
import type { SecretLocation } from '../secrets/sealing.ts';
import { CERTIFICATE_KIND, privateKeyLocation } from '../tables/certificates.ts';
import { sinkLocation } from '../tables/line-sinks.ts';
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
  { kind: SINK_KIND, member: 'sealed', locationOf: sinkLocation },
];
