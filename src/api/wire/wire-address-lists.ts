/** Lists of addresses, their words on the wire and in the model. Used by `wire.ts` only. */
import { LISTED_ADDRESSES } from '#contract/domains/address-list-operations.ts';
import type { RequestOf } from '#contract/operations.ts';
import type { AddressListView } from '#db/tables/address-lists.ts';
import type { Domain } from '#model/domain.ts';
import { parseAddressEntry } from '#sites/address-list.ts';
import { readList } from './wire-access.ts';
import type { Look } from './wire-domain.ts';
import { readDomainId, writeRevision } from './wire-values.ts';
import type { Writers } from './writers.ts';

type ListRoute = `addressList.${'list' | 'get' | 'set' | 'delete'}` | `config.${'set' | 'get'}AddressLists`;

export const READ_ADDRESS_LISTS = {
  'addressList.list': () => undefined,
  'addressList.get': ({ name }) => ({ name }),
  /** Equal addresses are merged. */
  'addressList.set': ({ name, addresses }) => {
    const list = readList('addresses', LISTED_ADDRESSES.each, parseAddressEntry, addresses);
    return { name, entries: [...new Set(list.map(({ entry }) => entry))] };
  },
  'addressList.delete': ({ name }) => ({ name }),
  /** What is `undefined` stays as it is. */
  'config.setAddressLists': ({ domain_id, deny, allow }) => ({
    domainId: domain_id,
    denied: deny && [...new Set(deny)],
    allowed: allow && [...new Set(allow)],
  }),
  'config.getAddressLists': readDomainId,
} satisfies { readonly [N in ListRoute]: (request: RequestOf<N>) => unknown };

export const WRITE_ADDRESS_LISTS = {
  'addressList.list': (lists: readonly AddressListView[], look: Look) => ({
    list: lists.map((list) => ({ ...writeList(list, look), addresses: list.entries.length })),
  }),
  'addressList.get': (list: AddressListView, look: Look) => ({
    ...writeList(list, look),
    addresses: [...list.entries],
  }),
  'config.getAddressLists': (domain: Domain) => {
    const { denied, allowed } = domain.settings.addressLists;
    return { deny: [...denied], allow: [...allowed], ...writeRevision(domain) };
  },
} satisfies Writers<ListRoute>;

function writeList({ name, domains, changedAt }: AddressListView, look: Look) {
  return { name, domains: [...domains], changed_time: look.formatTime(changedAt) };
}
