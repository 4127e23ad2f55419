/** Lists of addresses that an account's domains share. docs/decisions/0636 */

/** Kind of the feed resource: its key is that of the list, its body an `AddressListBody`. */
export const ADDRESS_LIST_KIND = 'addressList';

export interface AddressListName {
  readonly accountId: number;
  readonly name: string;
}

export interface AddressList extends AddressListName {
  /** Addresses and networks in canonical form, in the order in which they were set. */
  readonly entries: readonly string[];
  readonly changedAt: number;
}

export interface AddressListBody {
  readonly entries: readonly string[];
}

/** Returns the key under which edges know a list. No name of a site has a slash. */
export function addressListKey({ accountId, name }: AddressListName): string {
  return `${accountId}/${name}`;
}

/** Reads what `addressListKey` wrote. */
export function parseAddressListKey(key: string): AddressListName {
  const slash = key.indexOf('/');
  return { accountId: Number(key.slice(0, slash)), name: key.slice(slash + 1) };
}
