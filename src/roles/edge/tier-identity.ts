/** The identity of this edge between the tiers: that with which it connects to control. */
import type { Config } from '#config';
import type { TierIdentity } from '#edge/origin/parents/tiers.ts';
import type { Identity } from '#fleet/identity.ts';

/**
 * Loads the code of identities only where it is needed; `undefined` for an edge that needs no identity. One that cannot
 * be read is read later: viewers are served without it.
 */
export async function openTierIdentity(
  config: Pick<Config, 'followsFleet' | 'dataDir' | 'controls' | 'fleetFiles'>,
): Promise<TierIdentity | undefined> {
  const { followsFleet, dataDir, controls, fleetFiles: own } = config;
  if (!followsFleet) return undefined;
  const { createIdentityReader } = await import('#fleet/identity-reader.ts');
  const { readEdgeLeaf, readOwnLeaf } = await import('#fleet/authority.ts');
  const read = createIdentityReader({ dataDir, own, controls });
  let newest: Identity | undefined;
  const refresh = (): Identity | undefined => {
    try {
      newest = read();
    } catch {
      // The file is being replaced, or damaged: the process that follows control says so.
    }
    return newest;
  };
  let presented = refresh();
  return {
    tls: (serials) => {
      const next = refresh();
      if (next === undefined) throw new Error('the identity of this edge cannot be read');
      // Others learn of a renewed certificate a moment later. Until then the former one is presented.
      if (presented === undefined || !serials.includes(presented.serial) || serials.includes(next.serial))
        presented = next;
      const { cert, key, ca } = presented.tls();
      // `as`: texts, see `toIdentity` and `readOwnIdentity`.
      return { cert, key, ca: [ca].flat() } as ReturnType<TierIdentity['tls']>;
    },
    readLeaf: (certificate) => {
      const fleet = refresh()?.fleet;
      if (fleet === undefined) return undefined;
      return own === undefined ? readEdgeLeaf(fleet, certificate) : readOwnLeaf(fleet, certificate);
    },
  };
}
