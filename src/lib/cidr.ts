/** IP addresses and networks as text (`192.0.2.0/24`, `2001:db8::/32`, a bare address is a network of one). */
import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net';

export interface Cidr {
  readonly family: 'ipv4' | 'ipv6';
  readonly address: string;
  /** 0…32 or 0…128. */
  readonly prefix: number;
}

/** `undefined` when the text is no network. Bits beyond the prefix may be set and do not count. No zones. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return undefined;
  const max = version === 4 ? 32 : 128;
  if (prefix !== undefined && (!/^\d{1,3}$/.test(prefix) || Number(prefix) > max)) return undefined;
  return { family: version === 4 ? 'ipv4' : 'ipv6', address, prefix: prefix === undefined ? max : Number(prefix) };
}

export interface AddressSet {
  /** False for what is no address. An IPv4-mapped IPv6 address counts as the IPv4 address inside it. */
  has(address: string): boolean;
}

/** Throws `RangeError` for a text that is no network. */
export function createAddressSet(networks: readonly string[]): AddressSet {
  const list = new BlockList();
  for (const text of networks) {
    const cidr = parseCidr(text);
    if (cidr === undefined) throw new RangeError(`no network: ${text}`);
    list.addSubnet(cidr.address, cidr.prefix, cidr.family);
  }
  return {
    has: (address) => {
      const plain = unmapAddress(address);
      const version = isIP(plain);
      return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6');
    },
  };
}

/** The IPv4 address inside an IPv4-mapped IPv6 address, however that is written (`::ffff:192.0.2.1`, `::FFFF:c000:201`); else unchanged. */
export function unmapAddress(address: string): string {
  if (!address.includes(':')) return address;
  const [, v4] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(printIpv6(address)) ?? [];
  return v4 ?? address;
}

/** The one text of an address that may be written in several ways; `undefined` for what is no address, or has a zone. */
export function plainAddress(text: string): string | undefined {
  const version = text.includes('%') ? 0 : isIP(text);
  if (version === 0) return undefined;
  return version === 4 ? text : unmapAddress(printIpv6(text));
}

/** As the system prints it (RFC 5952); unchanged when it is none, or has a zone. */
function printIpv6(text: string): string {
  return isIPv6(text) && !text.includes('%') ? new SocketAddress({ address: text, family: 'ipv6' }).address : text;
}
