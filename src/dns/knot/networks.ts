/**
 * The networks whose clients Knot tells apart: those of the operator and, so that clients are spread over many edges, slices
 * of all addresses. Pure.
 */
import { plainNetwork } from '#lib/cidr.ts';
import type { ClientNetwork } from '../location.ts';

/** All IPv4 addresses in 64 slices, and those of IPv6 that are in use in 16. */
const SLICES4 = Array.from({ length: 64 }, (_, index) => `${index * 4}.0.0.0/6`);
const SLICES6 = Array.from({ length: 16 }, (_, index) => `${(0x2000 + index * 0x200).toString(16)}::/7`);
const REST6 = '::/0';

/** The first is that of clients that are in no other one. */
export function networksOf(own: readonly ClientNetwork[]): readonly string[] {
  return [...new Set([REST6, ...SLICES4, ...SLICES6, ...own.map(write)])];
}

/** Bits beyond the prefix are cleared: Knot takes no subnet with them in a query. */
function write({ network: { address, prefix } }: ClientNetwork): string {
  const [first = address] = (plainNetwork(`${address}/${prefix}`) ?? address).split('/');
  return `${first}/${prefix}`;
}
