/**
 * Opens certificates, live keys and sinks, which are sealed in the database, when they are sent to an edge. One that cannot be
 * opened holds nothing up: the edge gets the reason, rejects it, and keeps its previous version.
 */
import { type Keyring, KeyringError } from '#db/secrets/keyring.ts';
import { unseal } from '#db/secrets/sealing.ts';
import { CERTIFICATE_KIND, privateKeyLocation, type SealedPair } from '#db/tables/certificates.ts';
import { openLineSink, type SealedSink } from '#db/tables/line-sinks.ts';
import { openLiveKeys, type SealedLiveKeys } from '#db/tables/live/keys.ts';
import type { ResourceRow } from '#db/tables/resources.ts';
import type { Logger } from '#lib/logger.ts';
import { SINK_KIND } from '#model/line-sink.ts';
import { LIVE_KEYS_KIND } from '#model/live-stream.ts';
import type { LiveKeys } from '#sites/live.ts';
import type { CertificatePair } from '#sites/table.ts';
import type { UnopenedSecret } from '../wire/protocol.ts';

/** Returns a resource's body as it is sent, as JSON. */
export type UnsealBody = (row: ResourceRow) => string;

/** `ring`: absent if this feed has no secrets. */
export function createUnsealBody(ring: Keyring | undefined, log: Logger): UnsealBody {
  const told = new Set<string>();
  return ({ kind, key, body }) => {
    if (ring === undefined) return body;
    try {
      if (kind === CERTIFICATE_KIND) return openPair(ring, key, body);
      if (kind === SINK_KIND) return openSink(ring, key, body);
      return kind === LIVE_KEYS_KIND ? openKeys(ring, key, body) : body;
    } catch (error) {
      if (!(error instanceof KeyringError)) throw error;
      const name = `${kind} ${key}`;
      if (!told.has(name)) log.error({ err: error, kind, key }, 'cannot decrypt a secret; it is not sent to edges');
      told.add(name);
      return JSON.stringify({ problem: error.message } satisfies UnopenedSecret);
    }
  };
}

function openPair(ring: Keyring, key: string, body: string): string {
  // `as`: written by `db/tables/certificates.ts` only.
  const pair = JSON.parse(body) as SealedPair;
  const opened: CertificatePair = {
    certificate: pair.certificate,
    key: unseal(ring, privateKeyLocation(key), pair.key).toString('utf8'),
  };
  return JSON.stringify(opened);
}

function openKeys(ring: Keyring, key: string, body: string): string {
  // `as`: written by `db/tables/live/keys.ts` only.
  const { sealed } = JSON.parse(body) as SealedLiveKeys;
  return JSON.stringify(openLiveKeys(ring, Number(key), sealed) satisfies LiveKeys);
}

function openSink(ring: Keyring, key: string, body: string): string {
  // `as`: written by `db/tables/line-sinks.ts` only.
  return JSON.stringify(openLineSink(ring, key, (JSON.parse(body) as SealedSink).sealed));
}
