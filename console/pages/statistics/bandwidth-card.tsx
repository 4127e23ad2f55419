/** The 95th percentile of the bandwidth, by which traffic is billed: of this month until now, and of the last one. */
import type { CallOf, DataOf } from '#contract/operations.ts';
import { Card } from '../../components/card.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { type Tile, Tiles } from '../../components/tiles.tsx';
import { formatBitRate } from '../../lib/format.ts';
import { useRead } from '../../queries.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { statisticsText } from '../../text/statistics.ts';
import { monthBefore } from './months.ts';

type Bandwidth = DataOf<'stat.bandwidth'>;

/** `domains`: ids; empty: all together. */
export function BandwidthCard({ domains }: { readonly domains: readonly string[] }) {
  const t = useText(statisticsText);
  const asked = domains.length > 0 ? { domain_ids: [...domains] } : {};
  const load = useRead('stat.bandwidth', asked, { keepsPrevious: true });
  return (
    <Card title={t.percentile} note={t.percentileNote}>
      <Loaded load={load} lines={2}>
        {(present) => <Months present={present} asked={asked} />}
      </Loaded>
    </Card>
  );
}

/** Months are those of the service's time zone, whatever zone times are shown in. */
function Months({ present, asked }: { readonly present: Bandwidth; readonly asked: CallOf<'stat.bandwidth'> }) {
  const t = useText(statisticsText);
  const locale = usePreference('locale');
  const last = useRead('stat.bandwidth', { ...asked, month: monthBefore(present.month) }, { keepsPrevious: true });
  const rate = (bits: number) => formatBitRate(bits, locale);
  const tileOf = (title: string, data: Bandwidth): Tile => ({
    title: `${title} (${data.month})`,
    value: rate(data.bits_per_second),
    note: t.peakAndMean(rate(data.peak_bits_per_second), rate(data.mean_bits_per_second)),
  });
  return (
    <Loaded load={last} lines={2}>
      {(before) => <Tiles tiles={[tileOf(t.thisMonth, present), tileOf(t.lastMonth, before)]} />}
    </Loaded>
  );
}
