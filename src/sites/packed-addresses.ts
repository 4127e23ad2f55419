/** The networks of a site's address list in two texts. An edge keeps thousands of sites. docs/decisions/0117 */
import { firstUnits, lastUnits, type Network, parseNetworks, plainAddress, unitsOf } from '#lib/cidr.ts';
import { packUnits } from '#lib/packed.ts';

/** Throws `RangeError` for a text that is not a network. `read` is `addressUnits`, perhaps one that remembers. */
export class PackedAddresses {
  readonly #v4: string;
  readonly #v6: string;
  readonly #read: typeof addressUnits;

  constructor(texts: readonly string[], read = addressUnits) {
    const networks = parseNetworks(texts);
    this.#v4 = packRanges(networks.filter(({ family }) => family === 'ipv4'));
    this.#v6 = packRanges(networks.filter(({ family }) => family === 'ipv6'));
    this.#read = read;
  }

  /** Number of ranges that do not overlap. */
  get ranges(): number {
    return this.#v4.length / (2 * V4_UNITS) + this.#v6.length / (2 * V6_UNITS);
  }

  /** Whether the address is in one of the networks. */
  denies(address = ''): boolean {
    const units = this.#read(address);
    return units !== undefined && hasUnits(units.length === V4_UNITS ? this.#v4 : this.#v6, units);
  }
}

const V4_UNITS = 2;
const V6_UNITS = 8;

/**
 * An address as a text of 2 or 8 characters, each 16 of its bits; `undefined` if the text is not an address or has a
 * zone.
 */
export function addressUnits(text: string): string | undefined {
  const address = plainAddress(text);
  return address && packUnits(unitsOf(address));
}

/** First and last address of each in order, in one text. Those that overlap become one. */
function packRanges(networks: readonly Network[]): string {
  const merged: [first: string, last: string][] = [];
  const ranges = networks.map((network) => [packUnits(firstUnits(network)), packUnits(lastUnits(network))] as const);
  for (const [first, last] of ranges.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))) {
    const previous = merged.at(-1);
    if (previous === undefined || first > previous[1]) merged.push([first, last]);
    else if (last > previous[1]) previous[1] = last;
  }
  return merged.flat().join('');
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
