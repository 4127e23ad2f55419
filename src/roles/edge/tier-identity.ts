/** The identity of this edge between the tiers: that with which it connects to control. */
import type { Config } from '#config';
import type { TierIdentity } from '#edge/origin/parents/tiers.ts';
import type { Identity } from '#fleet/identity.ts';

/** Loads the code of identities only where it is needed; `undefined` for an edge that needs no identity. */
export async function openTierIdentity(config: Config): Promise<TierIdentity | undefined> {
  const { followsFleet, dataDir, controls, fleetFiles: own } = config;
  if (!followsFleet) return undefined;
  const { createIdentityReader } = await import('#fleet/identity-reader.ts');
  const { readEdgeLeaf, readOwnLeaf } = await import('#fleet/authority.ts');
  const read = createIdentityReader({ dataDir, own, controls });
  let newest = read();
  let presented = newest;
  const refresh = (): Identity => {
    try {
      newest = read();
    } catch {
      // The file is being replaced, or damaged: the process that follows control says so.
    }
    return newest;
  };
  return {
    tls: (serials) => {
      const { serial } = refresh();
      // Others learn of a renewed certificate a moment later. Until then the former one is presented.
      if (!serials.includes(presented.serial) || serials.includes(serial)) presented = newest;
      const { cert, key, ca } = presented.tls();
      // `as`: texts, see `toIdentity` and `readOwnIdentity`.
      return { cert, key, ca: [ca].flat() } as ReturnType<TierIdentity['tls']>;
    },
    readLeaf: (certificate) => {
      const { fleet } = refresh();
      return own === undefined ? readEdgeLeaf(fleet, certificate) : readOwnLeaf(fleet, certificate);
    },
  };
}
