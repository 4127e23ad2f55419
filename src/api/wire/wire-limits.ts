/** Limits of accounts, their words on the wire and in the model. Used by `wire.ts` only. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { CacheAmounts } from '#db/tables/cache-tasks.ts';
import type { Account, AccountLimits } from '#model/account.ts';
import { writeSeconds } from './wire-values.ts';

/** Limits in force, with what is used of them. */
export interface LimitsView {
  readonly account: Pick<Account, 'limits' | 'overSince'>;
  readonly limits: CacheAmounts & { readonly domains: number };
  readonly used: CacheAmounts & { readonly domains: number };
}

/** `null` of a change: the service's limit. Absent: unchanged. */
type LimitsChange = { readonly [K in keyof AccountLimits]?: AccountLimits[K] | null | undefined };

export function readLimits({ account_id, ...asked }: RequestOf<'operator.setAccountLimits'>) {
  const change: LimitsChange = {
    requestsPerSecond: asked.requests_per_second,
    domains: asked.domains,
    purgeUrls: asked.purge_urls,
    purgeDirectories: asked.purge_directories,
    prefetchUrls: asked.prefetch_urls,
    bandwidthMbps: asked.bandwidth_mbps,
    overBandwidth: asked.over_bandwidth,
  };
  return { accountId: account_id, change };
}

export function writeLimits({ account, limits, used }: LimitsView): DataOf<'account.getLimits'> {
  const quota = (name: keyof LimitsView['limits']) => ({ limit: limits[name], used: used[name] });
  return {
    requests_per_second: account.limits.requestsPerSecond ?? 0,
    domains: quota('domains'),
    purge_urls: quota('purgeUrls'),
    purge_directories: quota('purgeDirectories'),
    prefetch_urls: quota('prefetchUrls'),
    bandwidth_mbps: account.limits.bandwidthMbps ?? 0,
    over_bandwidth: account.limits.overBandwidth ?? 'nothing',
    over_since: writeSeconds(account.overSince),
  };
}
