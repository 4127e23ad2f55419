/** The domains with the most traffic. They are counted by whole hours and days up to now, whatever the range begins with. */
import { Card } from '../../components/card.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { TopList } from '../../components/top-list.tsx';
import { formatBytes, formatShort } from '../../lib/format.ts';
import { useRead } from '../../queries.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { overviewText } from '../../text/overview.ts';
import type { TimeRange } from './time-range.ts';

const SHOWN = 8;
const DAY_SECONDS = 86_400;

export function TopDomains({ range: { from, to } }: { readonly range: TimeRange }) {
  const t = useText(overviewText);
  const locale = usePreference('locale');
  const days = (to - from) / DAY_SECONDS;
  const span = days <= 1 ? '24h' : days <= 7 ? '7d' : '30d';
  const load = useRead('stat.topDomains', { span, limit: SHOWN }, { keepsPrevious: true });
  return (
    <Card title={t.topDomains} note={t.ranges[span]} isFlush>
      <Loaded load={load} isEmpty={({ list }) => list.length === 0} empty={<p className="help pad">{t.noTop}</p>}>
        {({ list }) => (
          <TopList
            label={t.topDomains}
            rows={list.map(({ domain_name, requests, bytes_out }) => ({
              name: domain_name,
              amount: bytes_out,
              shown: formatBytes(bytes_out, locale),
              note: formatShort(requests, locale),
            }))}
          />
        )}
      </Loaded>
    </Card>
  );
}
