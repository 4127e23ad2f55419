/** The link of this machine's parts to control: its own socket, or the fleet listeners of controls elsewhere. */
import type { Config } from '#config';
import { type ControlLink, openFleetLink, openSocketLink } from '#feed/client/control-link.ts';

/** Loads the code of identities only where it is needed. */
export async function openControlLink(config: Config): Promise<ControlLink> {
  const { followsFleet, feedSocket, dataDir, controls, fleetFiles: own } = config;
  if (!followsFleet) return openSocketLink(feedSocket);
  const { createIdentityReader } = await import('#fleet/identity-reader.ts');
  const credentials = createIdentityReader({ dataDir, own, controls });
  const known = controls.length > 0 ? controls : credentials().controls;
  return openFleetLink({ controls: known, credentials, random: Math.random });
}
