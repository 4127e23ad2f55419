/** Requests by the class of their status, over time. */
import { useMemo } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Card } from '../../components/card.tsx';
import { LazyChart } from '../../components/lazy-chart.tsx';
import type { Load } from '../../components/load.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Time } from '../../components/time.tsx';
import { formatShort } from '../../lib/format.ts';
import { usePreference, useZone } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import { overviewText } from '../../text/overview.ts';
import { filled, type TimeRange } from './time-range.ts';

type Requests = DataOf<'stat.requests'>;

interface RequestChartProps {
  readonly load: Load<Requests>;
  readonly range: TimeRange;
}

const CLASSES = [
  { name: '2xx', member: 'status_2xx', color: 'accent' },
  { name: '3xx', member: 'status_3xx', color: 'chart-4' },
  { name: '4xx', member: 'status_4xx', color: 'warn' },
  { name: '5xx', member: 'status_5xx', color: 'bad' },
] as const;

export function RequestChart({ load, range }: RequestChartProps) {
  const t = useText(domainViewsText);
  const overview = useText(overviewText);
  return (
    <Card title={t.requests} note={<Until until={range.to} before={overview.until} />}>
      <Loaded load={load} lines={5}>
        {(data) => <Drawn {...{ data, range }} />}
      </Loaded>
    </Card>
  );
}

function Until({ until, before }: { readonly until: number; readonly before: string }) {
  const zone = useZone();
  return (
    <>
      {before} <Time at={Math.min(until * 1000, Date.now())} isClock /> · {zone}
    </>
  );
}

function Drawn({ data, range: { from, to } }: { readonly data: Requests; readonly range: TimeRange }) {
  const t = useText(domainViewsText);
  const locale = usePreference('locale');
  const zone = useZone();
  const drawn = useMemo(() => {
    const points = filled(data.list, data.interval, { from, to });
    const series = CLASSES.map(({ name, member, color }) => ({
      name,
      color,
      values: lasting(points.map(({ point }) => point?.[member] ?? 0)),
      total: formatShort(data.total[member], locale),
    }));
    const format = (value: number) => formatShort(value, locale);
    return { times: [...points.map(({ time }) => time), to], series, range: [from, to] as const, format };
  }, [data, from, to, locale]);
  return <LazyChart label={t.requests} zone={zone} {...drawn} />;
}

/** The last step is as wide as its time. */
function lasting(values: readonly number[]): readonly number[] {
  return [...values, values.at(-1) ?? 0];
}
