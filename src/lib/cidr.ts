/** IP addresses and networks as text (`192.0.2.0/24`, `2001:db8::/32`, a bare address is a network of one). */
import { isIP, isIPv6, SocketAddress } from 'node:net';
import { packUnits } from './packed.ts';

export interface Cidr {
  readonly family: 'ipv4' | 'ipv6';
  readonly address: string;
  /** 0…32 or 0…128. */
  readonly prefix: number;
}

/**
 * `undefined` when the text is not a network. Bits beyond the prefix may be set and are ignored. Zones are refused. So
 * is an IPv4-mapped address whose prefix is shorter than the mapping itself: it looks like IPv4 and would contain none
 * of it.
 */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return undefined;
  const max = version === 4 ? 32 : 128;
  if (prefix !== undefined && (!/^\d{1,3}$/.test(prefix) || Number(prefix) > max)) return undefined;
  const cidr = { family: version === 4 ? 'ipv4' : 'ipv6', address, prefix: Number(prefix ?? max) } as const;
  return cidr.prefix < 96 && unmapAddress(address) !== address ? undefined : cidr;
}

/**
 * The one text of a network that may be written in several ways: bits beyond the prefix cleared, IPv4-mapped ones as the IPv4
 * inside, a network of one as a bare address. `undefined` when the text is no network.
 */
export function plainNetwork(text: string): string | undefined {
  const cidr = parseCidr(text);
  if (cidr === undefined) return undefined;
  const bits = toBits(cidr);
  const isMapped = cidr.family === 'ipv6' && cidr.prefix >= 96 && bits >> 32n === 0xffffn;
  const [width, prefix] = isMapped ? [32, cidr.prefix - 96] : [cidr.family === 'ipv4' ? 32 : 128, cidr.prefix];
  const free = BigInt(width - prefix);
  const masked = (BigInt.asUintN(width, bits) >> free) << free;
  const address = width === 32 ? printIpv4(masked) : printIpv6(groupsOf(masked));
  return prefix === width ? address : `${address}/${prefix}`;
}

export interface AddressSet {
  /** False if the text is not an address. An IPv4-mapped IPv6 address counts as the IPv4 address inside it. */
  has(address: string): boolean;
}

/** Throws `RangeError` for a text that is no network. `read` is `addressUnits`, perhaps one that remembers. */
export function createAddressSet(networks: readonly string[], read = addressUnits): AddressSet {
  const cidrs = networks.map((text) => {
    const cidr = parseCidr(plainNetwork(text) ?? text);
    if (cidr === undefined) throw new RangeError(`no network: ${text}`);
    return cidr;
  });
  return new PackedSet(cidrs, read);
}

class PackedSet implements AddressSet {
  readonly #v4: string;
  readonly #v6: string;
  readonly #read: typeof addressUnits;

  constructor(cidrs: readonly Cidr[], read: typeof addressUnits) {
    this.#v4 = packRanges(cidrs.filter(({ family }) => family === 'ipv4').map(toRange), V4_UNITS);
    this.#v6 = packRanges(cidrs.filter(({ family }) => family === 'ipv6').map(toRange), V6_UNITS);
    this.#read = read;
  }

  has(address: string): boolean {
    const units = this.#read(address);
    return units !== undefined && hasUnits(units.length === V4_UNITS ? this.#v4 : this.#v6, units);
  }
}

/** Number of 16-bit units of an IPv4 address. */
const V4_UNITS = 2;
const V6_UNITS = 8;

/**
 * An address as a text of 2 or 8 characters, each 16 of its bits; `undefined` if the text is not an address or has a
 * zone.
 */
export function addressUnits(address: string): string | undefined {
  const v4 = ipv4Number(address);
  if (v4 !== undefined) return toUnits(BigInt(v4), V4_UNITS);
  if (!isIPv6(address) || address.includes('%')) return undefined;
  const bits = ipv6Bits(address);
  return bits >> 32n === 0xffffn ? toUnits(bits & 0xffff_ffffn, V4_UNITS) : toUnits(bits, V6_UNITS);
}

function toUnits(bits: bigint, count: number): string {
  return packUnits(unitsOf(bits, count));
}

/** The highest first. */
function unitsOf(bits: bigint, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Number((bits >> BigInt(16 * (count - 1 - index))) & 0xffffn));
}

/** First and last address. */
type Range = readonly [first: bigint, last: bigint];

function toRange(cidr: Cidr): Range {
  const free = BigInt((cidr.family === 'ipv4' ? 32 : 128) - cidr.prefix);
  const first = (toBits(cidr) >> free) << free;
  return [first, first + (1n << free) - 1n];
}

/** First and last of each in order, in one text. Those that touch become one. */
function packRanges(ranges: readonly Range[], count: number): string {
  const merged: [bigint, bigint][] = [];
  for (const [first, last] of ranges.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))) {
    const previous = merged.at(-1);
    if (previous === undefined || first > previous[1] + 1n) merged.push([first, last]);
    else if (last > previous[1]) previous[1] = last;
  }
  return packUnits(merged.flat().flatMap((bits) => unitsOf(bits, count)));
}

/** Whether an address is in one of the ranges: by halving, so that many cost little. */
function hasUnits(ranges: string, units: string): boolean {
  const width = units.length;
  let [low, high] = [0, ranges.length / (2 * width) - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const at = middle * 2 * width;
    if (compareAt(ranges, at, units) > 0) high = middle - 1;
    else if (compareAt(ranges, at + width, units) < 0) low = middle + 1;
    else return true;
  }
  return false;
}

/** Compares the units that are packed at `at` with `units`. */
function compareAt(packed: string, at: number, units: string): number {
  for (let i = 0; i < units.length; i++) {
    const difference = packed.charCodeAt(at + i) - units.charCodeAt(i);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The IPv4 address inside an IPv4-mapped IPv6 address, however that is written (`::ffff:192.0.2.1`, `::FFFF:c000:201`); else unchanged. */
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
 * The network that counts as one client: an IPv4 address alone, an IPv6 address with its whole /64, which one host can use at will.
 * A text that is no address is returned unchanged.
 */
export function clientNetwork(address: string): string {
  const plain = unmapAddress(address);
  return plain.includes(':') ? (plainNetwork(`${plain}/64`) ?? plain) : plain;
}

function toBits({ family, address }: Cidr): bigint {
  return family === 'ipv4' ? BigInt(ipv4Number(address) ?? 0) : ipv6Bits(address);
}

/** `undefined` unless the text is four decimal parts. */
function ipv4Number(text: string): number | undefined {
  if (isIP(text) !== 4) return undefined;
  return text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function ipv6Bits(address: string): bigint {
  // An address may end in four decimal parts; the system prints those of mapped ones so, too.
  const hex = printIpv6(address).replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = parts.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [head = '', tail] = hex.split('::').map((side) => side.split(':').filter((group) => group !== ''));
  const first = head === '' ? [] : head;
  const last = tail ?? [];
  const groups = [...first, ...Array<string>(8 - first.length - last.length).fill('0'), ...last];
  return groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

function printIpv4(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((bits >> shift) & 255n)).join('.');
}

function groupsOf(bits: bigint): string {
  const hex = bits.toString(16).padStart(32, '0');
  return (hex.match(/.{4}/g) ?? []).join(':');
}

/** An IPv6 address as the system prints it (RFC 5952); unchanged when the text is not one or has a zone. */
function printIpv6(text: string): string {
  return isIPv6(text) && !text.includes('%') ? new SocketAddress({ address: text, family: 'ipv6' }).address : text;
}
