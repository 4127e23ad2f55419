/** Which addresses of this machine viewers reach, as far as the machine itself can tell. Pure. */
import { createAddressSet, plainAddress } from '#lib/cidr.ts';
import { isLoopback } from '#lib/listen-address.ts';
import { MAX_EDGE_ADDRESSES } from '#model/edge-place.ts';

/** Private, shared and reserved networks, and link-local ones, which no viewer elsewhere reaches. */
const PRIVATE = createAddressSet(['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']);
const LINK_LOCAL = createAddressSet(['169.254.0.0/16', 'fe80::/10']);

/**
 * Returns the public addresses of the machine; without any its private ones, and without these the loopback address.
 * `host`: that the edge listens on; an address counts alone. `found`: the addresses of the interfaces.
 */
export function chooseOwnAddresses(host: string, found: readonly string[]): readonly string[] {
  const listened = plainAddress(host);
  if (listened !== undefined && listened !== '0.0.0.0' && listened !== '::') return [listened];
  const addresses = [...new Set(found.flatMap((address) => plainAddress(address) ?? []))].filter(
    (address) => !isLoopback(address) && !LINK_LOCAL.has(address) && (host !== '0.0.0.0' || !address.includes(':')),
  );
  const open = addresses.filter((address) => !PRIVATE.has(address));
  const best = open.length > 0 ? open : addresses;
  return best.length > 0 ? best.slice(0, MAX_EDGE_ADDRESSES) : ['127.0.0.1'];
}
