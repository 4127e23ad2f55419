/** The identity of an edge on a machine without control: enrolled before, or at the first start by a token. */
import { type Config, DEFAULT_EDGE_ID } from '#config';
import { systemClock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';

type Prepared =
  | { readonly kind: 'config'; readonly config: Config }
  /** `problem`: a line for people. */
  | { readonly kind: 'refused'; readonly problem: string };

/**
 * Returns the configuration with the id that the identity names. `build`: the release, for control. Loads the code of
 * identities only where it is needed.
 */
export async function prepareFleetEdge(config: Config, build: string, log: Logger): Promise<Prepared> {
  if (!config.followsFleet) return { kind: 'config', config };
  const { readIdentity } = await import('#fleet/identity.ts');
  const { dataDir, controls, enrolToken, fleetFiles } = config;
  const wanted = config.edgeId === DEFAULT_EDGE_ID ? undefined : config.edgeId;
  try {
    const identity = fleetFiles === undefined ? (readIdentity(dataDir) ?? (await enrol())) : await readOwn();
    if (identity === undefined)
      return { kind: 'refused', problem: 'this machine is not enrolled: enrol it with "causeway edge enrol"' };
    if (wanted !== undefined && wanted !== identity.edge)
      return {
        kind: 'refused',
        problem: `edge-id is ${wanted}, and this machine is enrolled as edge ${identity.edge}: remove the setting, or enrol the machine as ${wanted}`,
      };
    return { kind: 'config', config: { ...config, edgeId: identity.edge } };

    async function readOwn() {
      const { readOwnIdentity } = await import('#fleet/own-identity.ts');
      return fleetFiles && readOwnIdentity(dataDir, fleetFiles, controls);
    }

    async function enrol() {
      if (enrolToken === undefined) return undefined;
      const { enrolMachine } = await import('#fleet/obtain-identity.ts');
      const order = { dataDir, controls, token: enrolToken, edge: wanted, build, now: systemClock() };
      const enrolled = await enrolMachine(order);
      log.info({ edge: enrolled.edge, group: enrolled.group }, 'this machine is enrolled');
      return enrolled;
    }
  } catch (error) {
    return { kind: 'refused', problem: `no identity: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/**
 * Renews the identity of this machine; one that the operator's own authority issued is announced instead. `undefined`
 * if the machine needs no identity.
 */
export async function startFleetRenewal(config: Config, log: Logger): Promise<AsyncDisposable | undefined> {
  const { followsFleet, dataDir, controls, fleetFiles: own } = config;
  if (!followsFleet) return undefined;
  if (own !== undefined) {
    const { startAnnouncement } = await import('#fleet/renewal.ts');
    return startAnnouncement({ dataDir, own, controls }, log);
  }
  const { startRenewal } = await import('#fleet/renewal.ts');
  return startRenewal({ dataDir, clock: systemClock, log });
}
