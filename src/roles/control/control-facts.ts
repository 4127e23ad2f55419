/** The facts that a control shows to the others that share its database. docs/decisions/0579 */
import type { Config } from '#config';
import { newestStep } from '#db/migrations/migrations.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import type { ControlFacts } from '#model/control.ts';

type FactsConfig = Pick<Config, 'logStore' | 'logStoreShared' | 'cnameSuffix' | 'timeZone' | 'domainStatusAs'>;

/** Rereads the key ring, to which a key may have been added. Throws `KeyringError`. */
export function readControlFacts(config: FactsConfig, build: string, ring: Keyring): ControlFacts {
  const { cnameSuffix, timeZone, domainStatusAs } = config;
  const keys = ring.checks();
  const newestKey = ring.newest.id;
  return {
    build,
    schema: newestStep(),
    logStore: logStoreOf(config),
    keys,
    newestKey,
    cnameSuffix,
    timeZone,
    domainStatusAs,
  };
}

function logStoreOf({ logStore, logStoreShared }: FactsConfig): string {
  if (logStore.kind === 'local') return logStoreShared === 'true' ? 'shared' : 'local';
  return `${logStore.endpoint}/${logStore.bucket}/${logStore.prefix}`;
}
