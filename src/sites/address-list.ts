/** IP rules: addresses and networks whose clients are refused. Edge rule 6 */
import { createAddressSet, plainNetwork } from '#lib/cidr.ts';

/** What became of an entry of a list; `entry` is its one spelling, `reason` completes the sentence "the entry …". */
export type ParsedEntry =
  | { readonly kind: 'entry'; readonly entry: string }
  | { readonly kind: 'invalid'; readonly reason: string };

/** IPv4, IPv6, or either with a prefix length; bits beyond it are cleared. */
export function parseAddressEntry(text: string): ParsedEntry {
  const entry = plainNetwork(text.trim());
  if (entry === undefined)
    return { kind: 'invalid', reason: 'is neither an IP address nor a network such as 192.0.2.0/24' };
  return { kind: 'entry', entry };
}

/** Whether a client is on the list. Throws `RangeError` for an entry that is none. */
export function compileAddresses(entries: readonly string[]): (address: string) => boolean {
  const addresses = createAddressSet(entries);
  return (address) => addresses.has(address);
}
