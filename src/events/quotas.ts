/** Accounts that have used most of what they may today, or of their SMS balance. */
import type { Db } from '#db/open.ts';
import { amountsFor, type CacheAmounts, listDayUsage } from '#db/tables/cache-tasks.ts';
import { listLowBalances } from '#db/tables/sms/low-balances.ts';
import type { Observation } from '#model/condition.ts';
import type { Observer } from './observer.ts';

export interface QuotaOptions {
  readonly db: Db;
  /** Limits of an account and day; one of 0 allows nothing, and is not told. */
  readonly limits: CacheAmounts;
  /** Balance from which down it is told; 0: never. */
  readonly lowBalance: number;
  /** Returns the day of the service's time zone. */
  readonly dayOf: (at: number) => string;
  readonly everyMs: number;
}

/** Share of a limit from which it is told; at the limit it is told again. */
const NEAR_SHARE = 0.8;

export function observeQuotas({ db, limits, lowBalance, dayOf, everyMs }: QuotaOptions): Observer {
  return {
    kinds: ['quota'],
    owner: '',
    everyMs,
    async observe(now) {
      const day = dayOf(now);
      const usage = await listDayUsage(db.query, day);
      const balances = lowBalance === 0 ? [] : await listLowBalances(db.query, lowBalance);
      return [
        ...usage.flatMap(({ accountId, name, own, amounts }) =>
          judgeUsage({ accountId, name, day }, amounts, amountsFor(limits, own)),
        ),
        ...balances.map(({ accountId, name, balance }) =>
          observation({ accountId, name }, 'smsBalance', { quota: 'smsBalance', used: balance, limit: lowBalance }, 0),
        ),
      ];
    },
  };
}

interface Account {
  readonly accountId: number;
  readonly name: string;
}

/** Pure. */
export function judgeUsage(
  account: Account & { readonly day: string },
  amounts: CacheAmounts,
  limits: CacheAmounts,
): readonly Observation[] {
  const quotas = Object.keys(limits) as (keyof CacheAmounts)[]; // `as`: its own keys
  return quotas.flatMap((quota) => {
    const [used, limit] = [amounts[quota], limits[quota]];
    if (limit === 0 || used < limit * NEAR_SHARE) return [];
    return [observation(account, `${quota} ${account.day}`, { quota, used, limit }, used >= limit ? 1 : 0)];
  });
}

function observation(
  { accountId, name }: Account,
  key: string,
  data: { readonly quota: string; readonly used: number; readonly limit: number },
  level: number,
): Observation {
  const target = { kind: 'account', id: String(accountId), name } as const;
  return { kind: 'quota', key: `${accountId} ${key}`, accountId, target, level, data };
}
