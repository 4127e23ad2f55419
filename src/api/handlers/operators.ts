/** The `/operator/*` operations: accounts, and what only the operator may do to a domain. */

import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import { rotateKeyring } from '#db/rotation/sealed-secrets.ts';
import { createAccount, setAccountDisabled } from '#db/tables/accounts.ts';
import { noteChanges } from '#db/tables/audit.ts';
import { changeDomain, transferDomain } from '../settings/change.ts';
import { LIMIT_HANDLERS, limitsFor } from './account-limits.ts';
import { BANDWIDTH_HANDLERS } from './bandwidth.ts';
import { DESK_HANDLERS } from './desk.ts';
import { findAccountOrRefuse } from './find-account.ts';
import type { Handler } from './handler.ts';
import { listDomainViews } from './list-domains.ts';
import { OPERATOR_TOKEN_HANDLERS } from './operator-tokens.ts';
import { PEOPLE_OPERATOR_HANDLERS } from './people-operators.ts';
import { changeState } from './state.ts';

export const OPERATOR_HANDLERS = {
  'operator.createAccount': ({ db, now }, { name, kind }) =>
    db.transaction(async (trx) => {
      const account = await createAccount(trx, { name, kind, now });
      const target = { kind: 'account', id: String(account.id), name } as const;
      noteChanges(trx, [{ accountId: account.id, target, before: {}, after: { kind } }]);
      return account;
    }),

  ...DESK_HANDLERS,
  ...OPERATOR_TOKEN_HANDLERS,
  ...PEOPLE_OPERATOR_HANDLERS,
  'operator.getBandwidth': BANDWIDTH_HANDLERS['operator.getBandwidth'],
  'operator.getAccountLimits': LIMIT_HANDLERS['operator.getAccountLimits'],
  'operator.setAccountLimits': LIMIT_HANDLERS['operator.setAccountLimits'],

  'operator.listDomains': async ({ db, now }, filter) => {
    if (filter.accountId !== undefined) await findAccountOrRefuse(db, filter.accountId);
    return await listDomainViews(db, now, { ...filter, domainIds: undefined });
  },

  'operator.transferDomain': async ({ db, services, keyring, now }, { accountId, domainId, toAccountId }) => {
    const { kind, limits } = await findAccountOrRefuse(db, toAccountId);
    if (kind !== 'customer') throw new ServiceError('accountNotCustomer', { accountId: toAccountId });
    const key = { accountId, domainIds: undefined, domainId };
    const { maxDomains } = limitsFor(services, limits);
    await transferDomain(db, key, { toAccountId, maxDomains, ring: keyring, now });
  },

  'operator.setDomainStatus': async ({ db, now }, { accountId, domainId, action }) => {
    const key = { accountId, domainIds: undefined, domainId };
    await changeDomain(db, key, now, (domain) => changeState(domain, action));
  },

  'operator.rejectDomain': async ({ db, now }, { accountId, domainId, reason }) => {
    const key = { accountId, domainIds: undefined, domainId };
    await changeDomain(db, key, now, (domain) => {
      const rejected = changeState(domain, 'reject');
      return rejected === domain && domain.rejectReason === reason ? domain : { ...rejected, rejectReason: reason };
    });
  },

  'operator.rotateKeyring': ({ db, keyring }) => rotateKeyring(db, keyring),

  'operator.setAccountStatus': async ({ db, now, accountId: own }, { accountId, isEnabled }) => {
    await findAccountOrRefuse(db, accountId);
    if (accountId === own && !isEnabled) throw new ServiceError('accountOwn', { accountId });
    await db.transaction((trx) => setAccountDisabled(trx, accountId, isEnabled ? undefined : now));
  },
} satisfies { readonly [N in RouteName as N extends `operator.${string}` ? N : never]: Handler<N> };
