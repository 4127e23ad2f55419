/** The bandwidth of a month on the wire. Used by `wire.ts` and its handlers only. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { HighestSamples } from '#db/tables/bandwidth.ts';
import { FIVE_MINUTES_MS } from '#lib/durations.ts';
import { type BandwidthMonth, sampleRate } from '#logs/bandwidth.ts';
import { writeFlag } from './wire-values.ts';

export interface BandwidthView extends BandwidthMonth, HighestSamples {
  /** Number of the highest samples that do not count. */
  readonly dropped: number;
}

export const READ_BANDWIDTH = {
  'stat.bandwidth': ({ month, domain_ids }: RequestOf<'stat.bandwidth'>) => ({ month, domainIds: domain_ids }),
  'operator.getBandwidth': ({ month, account_id }: RequestOf<'operator.getBandwidth'>) => {
    return { month, accountId: account_id };
  },
};

export const WRITE_BANDWIDTH = { 'stat.bandwidth': writeBandwidth, 'operator.getBandwidth': writeBandwidth };

function writeBandwidth(view: BandwidthView): DataOf<'stat.bandwidth'> {
  const { highest, dropped, totalBytes } = view;
  const [peak] = highest;
  return {
    month: view.month,
    from: view.from,
    to: view.to,
    complete: writeFlag(view.isComplete),
    interval_seconds: FIVE_MINUTES_MS / 1000,
    samples: view.samples,
    dropped,
    // Beyond those with traffic, samples are 0.
    bits_per_second: sampleRate(highest[dropped]?.bytes ?? 0),
    peak_bits_per_second: sampleRate(peak?.bytes ?? 0),
    peak_at: peak?.at ?? 0,
    mean_bits_per_second: view.samples === 0 ? 0 : sampleRate(totalBytes / view.samples),
    bytes_out: totalBytes,
  };
}
