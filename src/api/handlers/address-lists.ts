/** Lists of addresses that an account's domains share. docs/decisions/0636 */
import type { RouteName } from '#contract/routes.ts';
import { ServiceError } from '#contract/service-error.ts';
import { deleteAddressList, listAddressLists, saveAddressList } from '#db/tables/address-lists.ts';
import { publish } from '#db/tables/resources.ts';
import { MAX_ADDRESS_LISTS } from '#model/limits.ts';
import { changeSettings } from '../settings/change.ts';
import type { Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';

export const ADDRESS_LIST_HANDLERS = {
  'addressList.list': async ({ db, accountId }) => await listAddressLists(db.query, accountId),

  'addressList.get': async ({ db, accountId }, { name }) => {
    const list = (await listAddressLists(db.query, accountId)).find((each) => each.name === name);
    if (list === undefined) throw new ServiceError('addressListNotFound', { list: name });
    return list;
  },

  'addressList.set': async ({ db, accountId, now }, list) => {
    await db.transaction(async (trx) => {
      const changes = await saveAddressList(trx, { accountId, changedAt: now, ...list }, MAX_ADDRESS_LISTS);
      if (changes === undefined) throw new ServiceError('addressListLimit', { limit: MAX_ADDRESS_LISTS });
      if (changes.length > 0) await publish(trx, changes, now);
    });
  },

  'addressList.delete': async ({ db, accountId }, { name }) => {
    const deleted = await db.transaction((trx) => deleteAddressList(trx, { accountId, name }));
    if (deleted.kind === 'missing') throw new ServiceError('addressListNotFound', { list: name });
    if (deleted.kind === 'inUse')
      throw new ServiceError('addressListInUse', { list: name, domains: deleted.domains.join(', ') });
  },

  'config.setAddressLists': async (call, { domainId, denied, allowed }) => {
    await changeSettings(call, domainId, ({ settings }) => {
      const { addressLists } = settings;
      return {
        ...settings,
        addressLists: { denied: denied ?? addressLists.denied, allowed: allowed ?? addressLists.allowed },
      };
    });
  },

  'config.getAddressLists': async (call, { domainId }) => await readOwnDomain(call, domainId),
} satisfies {
  readonly [N in RouteName as N extends `addressList.${string}` | `config.${string}AddressLists`
    ? N
    : never]: Handler<N>;
};
