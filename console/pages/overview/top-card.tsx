/** The most frequent URLs, statuses, referers or clients of a time. */
import type { CallOf } from '#contract/operations.ts';
import { Card } from '../../components/card.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { TopList } from '../../components/top-list.tsx';
import { formatBytes, formatShort } from '../../lib/format.ts';
import { useRead } from '../../queries.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { overviewText } from '../../text/overview.ts';
import type { TimeRange } from './time-range.ts';

interface TopCardProps {
  readonly kind: CallOf<'stat.top'>['kind'];
  readonly title: string;
  readonly range: TimeRange;
  /** Empty: all. */
  readonly domain?: string;
}

const SHOWN = 8;

export function TopCard({ kind, title, range: { from, to }, domain = '' }: TopCardProps) {
  const t = useText(overviewText);
  const locale = usePreference('locale');
  const load = useRead(
    'stat.top',
    { kind, limit: SHOWN, starttime: from, endtime: to, ...(domain !== '' && { domain }) },
    { keepsPrevious: true },
  );
  return (
    <Card title={title} note={t.approximate} isFlush>
      <Loaded load={load} isEmpty={({ list }) => list.length === 0} empty={<p className="help pad">{t.noTop}</p>}>
        {({ list }) => (
          <TopList
            label={title}
            rows={list.map(({ value, requests, bytes }) => ({
              name: value === '' ? '—' : value,
              amount: requests,
              shown: formatShort(requests, locale),
              note: formatBytes(bytes, locale),
            }))}
          />
        )}
      </Loaded>
    </Card>
  );
}
