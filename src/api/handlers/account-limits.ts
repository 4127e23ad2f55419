/** Limits of accounts: those in force, and how operators set them. docs/decisions/0633 */
import { ServiceError } from '#contract/errors/service-error.ts';
import { lockInTransaction } from '#db/engines/engine.ts';
import { countDomains, findAccount, saveAccountLimits } from '#db/tables/accounts.ts';
import { amountsFor, type CacheAmounts, readDayUsage } from '#db/tables/cache-tasks.ts';
import type { Account, AccountLimits } from '#model/account.ts';
import type { LimitsView } from '../wire/wire-limits.ts';
import { findAccountOrRefuse } from './find-account.ts';
import type { Call, CallServices, Handler } from './handler.ts';

type LimitRoute = 'account.getLimits' | 'operator.getAccountLimits' | 'operator.setAccountLimits';

export const LIMIT_HANDLERS = {
  'account.getLimits': async (call) => {
    const account = await findAccount(call.db.query, call.accountId);
    if (account === undefined) throw new ServiceError('accountMissing');
    return await viewLimits(call, account);
  },

  'operator.getAccountLimits': async (call, { accountId }) =>
    await viewLimits(call, await findAccountOrRefuse(call.db, accountId)),

  'operator.setAccountLimits': async ({ db }, { accountId, change }) => {
    await findAccountOrRefuse(db, accountId);
    await db.transaction(async (trx) => {
      await lockInTransaction(trx, `limits:${accountId}`);
      const before = (await findAccount(trx, accountId))?.limits;
      const given = Object.entries(change).filter(([, value]) => value !== undefined);
      const limits = Object.entries({ ...before, ...Object.fromEntries(given) }).filter(([, value]) => value !== null);
      await saveAccountLimits(trx, accountId, Object.fromEntries(limits));
    });
  },
} satisfies { readonly [N in LimitRoute]: Handler<N> };

/** The service's limits, with those of an account instead. */
export function limitsFor(
  { maxDomains, cacheLimits }: Pick<CallServices, 'maxDomains' | 'cacheLimits'>,
  own: AccountLimits,
): { readonly maxDomains: number; readonly cacheLimits: CacheAmounts } {
  return { maxDomains: own.domains ?? maxDomains, cacheLimits: amountsFor(cacheLimits, own) };
}

async function viewLimits(call: Call, account: Account): Promise<LimitsView> {
  const { db, days, now, services } = call;
  const { maxDomains, cacheLimits } = limitsFor(services, account.limits);
  const domains = await countDomains(db.query, account.id);
  const used = await readDayUsage(db.query, { accountId: account.id, day: days.dayOf(now) });
  return { account, limits: { ...cacheLimits, domains: maxDomains }, used: { ...used, domains } };
}
