/**
 * IP addresses and networks as text (`192.0.2.0/24`, `2001:db8::/32`; a bare address is a network of one). Parsing,
 * printing and comparing are Node's. docs/decisions/0522
 */
import { BlockList, isIP, SocketAddress } from 'node:net';

/** An IPv4-mapped IPv6 network is the IPv4 network inside. */
export interface Network {
  readonly family: 'ipv4' | 'ipv6';
  /** Canonical text; bits beyond the prefix may be set. */
  readonly address: string;
  /** 0…32 or 0…128. */
  readonly prefix: number;
}

/**
 * Parses a network. Returns `undefined` if the text is not a network, has a zone, or is an IPv4-mapped network with a
 * prefix shorter than the mapping, which would look like IPv4 but contain none of it.
 */
export function parseNetwork(text: string): Network | undefined {
  const [written = '', length, ...rest] = text.split('/');
  const address = plainAddress(written);
  if (address === undefined || rest.length > 0) return undefined;
  const family = address.includes(':') ? 'ipv6' : 'ipv4';
  const width = family === 'ipv4' ? 32 : 128;
  if (length === undefined) return { family, address, prefix: width };
  const mapping = family === 'ipv4' && written.includes(':') ? 96 : 0;
  const prefix = /^\d{1,3}$/.test(length) ? Number(length) - mapping : -1;
  return prefix < 0 || prefix > width ? undefined : { family, address, prefix };
}

/** Throws `RangeError` for a text that is not a network. */
export function parseNetworks(texts: readonly string[]): Network[] {
  return texts.map((text) => {
    const network = parseNetwork(text);
    if (network === undefined) throw new RangeError(`not a network: ${text}`);
    return network;
  });
}

/** Canonical text of a network: bits beyond the prefix cleared, a network of one as a bare address. */
export function plainNetwork(text: string): string | undefined {
  const network = parseNetwork(text);
  if (network === undefined) return undefined;
  const first = printUnits(firstUnits(network));
  return network.prefix === (network.family === 'ipv4' ? 32 : 128) ? first : `${first}/${network.prefix}`;
}

/** Whether one of the networks has all addresses of another. Throws `RangeError` for a text that is not a network. */
export function coversNetwork(networks: readonly string[], inner: string): boolean {
  const [asked] = parseNetworks([inner]);
  return parseNetworks(networks).some((network) => {
    if (asked === undefined || network.family !== asked.family || network.prefix > asked.prefix) return false;
    return firstUnits({ ...asked, prefix: network.prefix }).join() === firstUnits(network).join();
  });
}

export interface AddressSet {
  /** False if the text is not an address. An IPv4-mapped IPv6 address counts as the IPv4 address inside it. */
  has(address: string): boolean;
}

/** Throws `RangeError` for a text that is not a network. */
export function createAddressSet(texts: readonly string[]): AddressSet {
  const networks = parseNetworks(texts);
  // A shared list would match IPv4 addresses against `::/0`.
  const [v4, v6] = (['ipv4', 'ipv6'] as const).map((family) => listOf(networks.filter((one) => one.family === family)));
  return {
    has: (address) => {
      const plain = unmapAddress(address);
      const version = isIP(plain);
      if (version === 4) return v4?.check(plain) === true;
      return version === 6 && !plain.includes('%') && v6?.check(plain, 'ipv6') === true;
    },
  };
}

/** `undefined` for no networks, since creating a list is expensive. */
function listOf(networks: readonly Network[]): BlockList | undefined {
  if (networks.length === 0) return undefined;
  const list = new BlockList();
  for (const { address, prefix, family } of networks) list.addSubnet(address, prefix, family);
  return list;
}

/**
 * Returns the IPv4 address inside an IPv4-mapped IPv6 address in any spelling (`::ffff:192.0.2.1`, `::FFFF:c000:201`);
 * otherwise `address` unchanged.
 */
export function unmapAddress(address: string): string {
  if (!address.includes(':')) return address;
  const [, v4] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(printIpv6(address)) ?? [];
  return v4 ?? address;
}

/**
 * Canonical text of an address that may be written in several ways; `undefined` if the text is not an address or has a
 * zone.
 */
export function plainAddress(text: string): string | undefined {
  const version = text.includes('%') ? 0 : isIP(text);
  if (version === 0) return undefined;
  return version === 4 ? text : unmapAddress(printIpv6(text));
}

/**
 * Returns the network that counts as one client: an IPv4 address itself, or the /64 of an IPv6 address, which one host
 * can use freely. A text that is not an address is returned unchanged.
 */
export function clientNetwork(address: string): string {
  const plain = unmapAddress(address);
  return plain.includes(':') ? (plainNetwork(`${plain}/64`) ?? plain) : plain;
}

/** Returns the 16-bit units of an address in canonical form: 2 for IPv4, 8 for IPv6. */
export function unitsOf(address: string): number[] {
  if (!address.includes(':')) return unitsOfIpv4(address);
  const [head = [], tail = []] = address.split('::').map(unitsOfSide);
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

/** Units of the part of an address before or after `::`. It may end in dotted decimal. */
function unitsOfSide(side: string): number[] {
  if (side === '') return [];
  return side.split(':').flatMap((part) => (part.includes('.') ? unitsOfIpv4(part) : Number.parseInt(part, 16)));
}

function unitsOfIpv4(text: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

/** Units of the first address of a network. */
export function firstUnits({ address, prefix }: Network): number[] {
  return unitsOf(address).map((unit, index) => unit & ~freeBits(prefix, index));
}

/** Units of the last address of a network. */
export function lastUnits({ address, prefix }: Network): number[] {
  return unitsOf(address).map((unit, index) => unit | freeBits(prefix, index));
}

/** Mask of the bits of a unit that lie beyond the prefix. */
function freeBits(prefix: number, index: number): number {
  return 0xffff >> Math.min(Math.max(prefix - index * 16, 0), 16);
}

function printUnits(units: readonly number[]): string {
  if (units.length === 2) return units.flatMap((unit) => [unit >> 8, unit & 0xff]).join('.');
  return printIpv6(units.map((unit) => unit.toString(16)).join(':'));
}

/** Returns an IPv6 address as the system prints it (RFC 5952); unchanged if the text is not one or has a zone. */
function printIpv6(text: string): string {
  return isIP(text) === 6 && !text.includes('%') ? new SocketAddress({ address: text, family: 'ipv6' }).address : text;
}
