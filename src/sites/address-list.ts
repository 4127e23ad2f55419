/** IP rules: addresses and networks whose clients are refused. Edge rule 6 */
import { plainNetwork, unmapAddress } from '#lib/cidr.ts';

/** What became of an entry of a list; `entry` is its one spelling, `reason` completes the sentence "the entry …". */
export type ParsedEntry =
  | { readonly kind: 'entry'; readonly entry: string }
  | { readonly kind: 'invalid'; readonly reason: string };

/** IPv4, IPv6, or either with a prefix length; bits beyond it are cleared. */
export function parseAddressEntry(text: string): ParsedEntry {
  const entry = plainNetwork(text.trim());
  if (entry !== undefined) return { kind: 'entry', entry };
  const [address = '', prefix] = text.trim().split('/');
  const isMapped = unmapAddress(address) !== address && /^\d+$/.test(prefix ?? '') && Number(prefix) < 96;
  return {
    kind: 'invalid',
    reason: isMapped
      ? 'is an IPv4 address in IPv6 with a prefix below 96, which no IPv4 client is in: write the IPv4 network'
      : 'is neither an IP address nor a network such as 192.0.2.0/24',
  };
}
