/** How many watch, by protocol, now and over time. */
import { useMemo } from 'react';
import { useLocation } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Card } from '../../components/card.tsx';
import { LazyChart } from '../../components/lazy-chart.tsx';
import { Loaded, Skeleton } from '../../components/loaded.tsx';
import { Select } from '../../components/select.tsx';
import { formatNumber } from '../../lib/format.ts';
import { useRead } from '../../queries.ts';
import { VIEWER_RANGES, type ViewerRange } from '../../routes/streams.ts';
import { usePreference, useZone } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { liveHistoryText } from '../../text/live-history.ts';
import { lastSeconds, type TimeRange } from '../overview/time-range.ts';
import { PROTOCOLS, VIEWER_SPANS, viewerCourse } from './viewer-course.ts';

/** The streams of a domain, or one of them. */
export interface StreamsOf {
  readonly domain: string;
  readonly app_name?: string;
  readonly stream_name?: string;
}

interface ViewersCardProps {
  readonly of: StreamsOf;
  readonly range: ViewerRange;
  readonly pathOf: (range: ViewerRange) => string;
}

/** The shortest step. */
const EVERY_MS = 60_000;

export function ViewersCard({ of, range, pathOf }: ViewersCardProps) {
  const t = useText(liveHistoryText);
  const locale = usePreference('locale');
  const [, navigate] = useLocation();
  const { seconds, interval } = VIEWER_SPANS[range];
  const { from, to } = lastSeconds(seconds, Date.now());
  const request = { ...of, interval, starttime: from };
  const load = useRead('live.viewers', request, { everyMs: EVERY_MS, keepsPrevious: true });
  const now = load.kind === 'ready' ? Object.values(load.data.now).reduce((sum, count) => sum + count, 0) : undefined;
  return (
    <Card
      title={t.viewers}
      note={now !== undefined && t.viewersNow(formatNumber(now, locale))}
      actions={
        <Select
          label={t.range}
          choices={VIEWER_RANGES.map((value) => ({ value, label: t.ranges[value] }))}
          value={range}
          onChange={(value) => navigate(pathOf(value), { replace: true })}
        />
      }
    >
      <Loaded
        load={load}
        lines={5}
        isEmpty={({ list }) => list.length === 0}
        empty={<p className="help">{t.noViewers}</p>}
      >
        {(viewers) =>
          // Until the answer is there, what is known may be of the range before.
          viewers.interval === interval ? (
            <>
              <Drawn {...{ viewers, from, to }} />
              <p className="help">{t.viewersHelp}</p>
            </>
          ) : (
            <Skeleton lines={5} />
          )
        }
      </Loaded>
    </Card>
  );
}

const COLORS = { rtmp: 'text-2', websocket: 'chart-5', flv: 'chart-4', hls: 'accent' } as const;

function Drawn({ viewers, from, to }: TimeRange & { readonly viewers: DataOf<'live.viewers'> }) {
  const t = useText(liveHistoryText);
  const locale = usePreference('locale');
  const zone = useZone();
  const drawn = useMemo(() => {
    const { times, values } = viewerCourse(viewers, { from, to });
    const format = (value: number) => formatNumber(value, locale);
    const series = PROTOCOLS.map((protocol) => ({
      name: t.protocols[protocol],
      color: COLORS[protocol],
      values: values[protocol],
      total: t.most(format(values[protocol].reduce<number>((most, value) => Math.max(most, value ?? 0), 0))),
    }));
    return { times, series, range: [from, to] as const, format };
  }, [viewers, from, to, locale, t]);
  return <LazyChart label={t.viewers} zone={zone} isStacked {...drawn} />;
}
