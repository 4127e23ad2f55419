/** The bandwidth of a month by which traffic is billed. docs/decisions/0742 */
import { ServiceError } from '#contract/errors/service-error.ts';
import { type BandwidthOwner, findFirstSums, readHighestSamples } from '#db/tables/bandwidth.ts';
import { DAY_MS, FIVE_MINUTES_MS } from '#lib/durations.ts';
import {
  BANDWIDTH_DAYS,
  droppedOf,
  isCountedWhole,
  monthOf,
  monthSamples,
  nextMonth,
  reportedMs,
} from '#logs/bandwidth.ts';
import type { BandwidthView } from '../wire/wire-bandwidth.ts';
import { findAccountOrRefuse } from './find-account.ts';
import type { Call, Handler } from './handler.ts';
import { readOwnDomains } from './own-domain.ts';

export const BANDWIDTH_HANDLERS = {
  'stat.bandwidth': async (call, { domainIds, month }) => {
    if (domainIds !== undefined) await readOwnDomains(call, domainIds);
    return await readBandwidth(call, { accountId: call.accountId, domainIds: domainIds ?? call.domainIds }, month);
  },

  'operator.getBandwidth': async (call, { accountId, month }) => {
    await findAccountOrRefuse(call.db, accountId);
    return await readBandwidth(call, { accountId, domainIds: undefined }, month);
  },
} satisfies { readonly [N in 'stat.bandwidth' | 'operator.getBandwidth']: Handler<N> };

async function readBandwidth(
  { db, days, statSeconds, now }: Call,
  owner: BandwidthOwner,
  month = monthOf(now, days),
): Promise<BandwidthView> {
  const keptDays = owner.domainIds === undefined ? BANDWIDTH_DAYS.accounts : BANDWIDTH_DAYS.domains;
  const last = monthOf(now, days);
  const first = nextMonth(monthOf(now - keptDays * DAY_MS, days));
  if (month < first || month > last) throw new ServiceError('monthNotKept', { month, first, last });
  const samples = monthSamples(month, now - reportedMs(statSeconds), days);
  if (!isCountedWhole(await findFirstSums(db.query, owner, samples)))
    throw new ServiceError('monthNotWhole', { month });
  const dropped = droppedOf(samples.samples);
  const { from } = samples;
  const to = from + samples.samples * FIVE_MINUTES_MS;
  const highest = await readHighestSamples(db.query, owner, { from, to, highest: dropped + 1 });
  return { ...samples, dropped, ...highest };
}
