/** Lists of addresses that an account's domains share. docs/decisions/0636 */

import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import { deleteAddressList, listAddressLists, saveAddressList } from '#db/tables/address-lists.ts';
import { publish } from '#db/tables/resources.ts';
import { MAX_ADDRESS_LISTS } from '#model/limits.ts';
import { changesTopic } from './changes-topic.ts';
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
    await db.transaction(async (trx) => {
      const deleted = await deleteAddressList(trx, { accountId, name });
      if (deleted.kind === 'missing') throw new ServiceError('addressListNotFound', { list: name });
      if (deleted.kind === 'inUse')
        throw new ServiceError('addressListInUse', { list: name, domains: deleted.domains.join(', ') });
    });
  },

  'config.setAddressLists': changesTopic('address_lists'),

  'config.getAddressLists': async (call, { domainId }) => await readOwnDomain(call, domainId),
} satisfies {
  readonly [N in RouteName as N extends `addressList.${string}` | `config.${string}AddressLists`
    ? N
    : never]: Handler<N>;
};
