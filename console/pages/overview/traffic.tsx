/** Traffic of all domains or of one: four figures, and requests by the class of their status over time. */
import { useMemo } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Card } from '../../components/card.tsx';
import { LazyChart } from '../../components/lazy-chart.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Time } from '../../components/time.tsx';
import { formatShort } from '../../lib/format.ts';
import { useRead } from '../../queries.ts';
import { usePreference, useZone } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import { overviewText } from '../../text/overview.ts';
import { type Courses, coursesOf, TRAFFIC_METRICS } from './courses.ts';
import { grainOf, type TimeRange } from './time-range.ts';
import { TrafficTiles } from './traffic-tiles.tsx';

interface TrafficProps {
  readonly range: TimeRange;
  /** Absent: all domains. */
  readonly domainId?: string;
}

const EVERY_MS = 30_000;

export function Traffic({ range, domainId }: TrafficProps) {
  const { from, to } = range;
  const load = useRead(
    'stat.series',
    {
      metrics: [...TRAFFIC_METRICS],
      interval: grainOf(range),
      starttime: from,
      endtime: to - 1,
      shift: to - from,
      ...(domainId !== undefined && { domain_ids: [domainId] }),
    },
    { everyMs: EVERY_MS, keepsPrevious: true },
  );
  return (
    <Loaded load={load} lines={8}>
      {(data) => <Shown data={data} range={range} />}
    </Loaded>
  );
}

function Shown({ data, range }: { readonly data: DataOf<'stat.series'>; readonly range: TimeRange }) {
  const courses = useMemo(() => coursesOf(data), [data]);
  return (
    <>
      <TrafficTiles courses={courses} />
      <RequestChart {...{ data, courses, range }} />
    </>
  );
}

const CLASSES = [
  { name: '5xx', member: 'status_5xx', color: 'bad' },
  { name: '4xx', member: 'status_4xx', color: 'warn' },
  { name: '3xx', member: 'status_3xx', color: 'chart-4' },
  { name: '2xx', member: 'status_2xx', color: 'accent' },
] as const;

interface RequestChartProps {
  readonly data: DataOf<'stat.series'>;
  readonly courses: Courses;
  readonly range: TimeRange;
}

function RequestChart({ data, courses, range: { from, to } }: RequestChartProps) {
  const t = useText(domainViewsText);
  const overview = useText(overviewText);
  const locale = usePreference('locale');
  const zone = useZone();
  const drawn = useMemo(() => {
    const series = CLASSES.map(({ name, member, color }) => ({
      name,
      color,
      values: courses[member].values,
      total: formatShort(courses[member].total, locale),
    }));
    const format = (value: number) => formatShort(value, locale);
    return { times: data.times.map((at) => at / 1000), series, range: [from, to] as const, format };
  }, [data, courses, from, to, locale]);
  return (
    <Card
      title={t.requests}
      note={
        <>
          {overview.grains[data.interval]} · {overview.until}{' '}
          <Time at={Math.min(to * 1000, data.complete_until)} isClock /> · {zone}
        </>
      }
    >
      <LazyChart label={t.requests} zone={zone} isStacked {...drawn} />
    </Card>
  );
}
