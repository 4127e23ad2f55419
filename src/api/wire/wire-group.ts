/** Groups of edges on the wire. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import { toModelNames } from '#lib/model-names.ts';
import type { GroupView } from '#model/edge-group.ts';

export const READ_GROUPS = {
  'groupOperator.list': () => undefined,
  'groupOperator.set': ({ name, default: isDefault, parent }: RequestOf<'groupOperator.set'>) => ({
    name,
    isDefault,
    parent,
  }),
  'groupOperator.getDomain': toModelNames<RequestOf<'groupOperator.getDomain'>>,
  'groupOperator.setDomain': ({ account_id, domain_id, groups }: RequestOf<'groupOperator.setDomain'>) => ({
    accountId: account_id,
    domainId: domain_id,
    groups: [...new Set(groups)],
  }),
  'groupOperator.remove': ({ name }: RequestOf<'groupOperator.remove'>) => ({ name }),
};

export const WRITE_GROUPS = {
  'groupOperator.list': (groups: readonly GroupView[]): DataOf<'groupOperator.list'> => ({
    list: groups.map(({ name, isDefault, parent = '', domains, edges }) => ({
      name,
      default: isDefault ? '1' : '0',
      parent,
      domains,
      edges,
    })),
  }),
  'groupOperator.set': () => true,
  'groupOperator.getDomain': (groups: readonly string[]): DataOf<'groupOperator.getDomain'> => ({
    groups: [...groups],
  }),
  'groupOperator.setDomain': () => true,
  'groupOperator.remove': () => true,
};
