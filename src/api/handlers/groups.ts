/** The operations on groups of edges, for operators. docs/decisions/0592 */
import type { RouteName } from '#contract/routes.ts';
import { listDomainGroups } from '#db/tables/edge-groups.ts';
import { findOrRefuse } from '../settings/change.ts';
import { listGroupViews, removeGroup, setDomainGroups, setGroup } from '../settings/edge-groups.ts';
import type { Handler } from './handler.ts';

export const GROUP_HANDLERS = {
  'groupOperator.list': ({ db }) => listGroupViews(db),

  'groupOperator.set': async ({ db, now }, group) => {
    await setGroup(db, group, now);
  },

  'groupOperator.getDomain': ({ db }, key) =>
    db.transaction(
      async (trx) => await listDomainGroups(trx, (await findOrRefuse(trx, { ...key, domainIds: undefined })).id),
    ),

  'groupOperator.setDomain': async ({ db, now }, { groups, ...key }) => {
    await setDomainGroups(db, { ...key, domainIds: undefined }, groups, now);
  },

  'groupOperator.remove': async ({ db, now }, { name }) => {
    await removeGroup(db, name, now);
  },
} satisfies { readonly [N in RouteName as N extends `groupOperator.${string}` ? N : never]: Handler<N> };
