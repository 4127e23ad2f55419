/** Limits of an account in the form, and what is sent of them. Pure. */
import type { CallOf, DataOf } from '#contract/operations.ts';

type Limits = DataOf<'operator.getAccountLimits'>;
type Change = CallOf<'operator.setAccountLimits'>;

const QUOTAS = ['domains', 'purge_urls', 'purge_directories', 'prefetch_urls'] as const;
const RATES = ['requests_per_second', 'bandwidth_mbps'] as const;

/** What the fields have at first: the limits in force. Empty: not limited. */
export function limitValues(limits: Limits): Omit<Change, 'account_id'> {
  return {
    ...Object.fromEntries(QUOTAS.map((name) => [name, String(limits[name].limit)])),
    ...Object.fromEntries(RATES.map((name) => [name, limits[name] === 0 ? '' : String(limits[name])])),
    over_bandwidth: limits.over_bandwidth,
  };
}

/** Only what differs: what is in force may be the service's, and is not made the account's own by looking at it. */
export function changedLimits(limits: Limits, values: Change): Change {
  const before = Object.entries(limitValues(limits));
  const same = new Set(before.filter(([name, value]) => Object(values)[name] === value).map(([name]) => name));
  // `as`: members of it, without some that may be absent.
  return Object.fromEntries(Object.entries(values).filter(([name]) => !same.has(name))) as Change;
}
