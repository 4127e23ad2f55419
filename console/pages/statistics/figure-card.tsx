/** A figure as a chart, as a table, and as a file with exactly what the table has. */
import { useCallback, useMemo, useRef } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Card } from '../../components/card.tsx';
import type { ChartProps } from '../../components/chart.tsx';
import { LazyChart } from '../../components/lazy-chart.tsx';
import type { Load } from '../../components/load.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Time } from '../../components/time.tsx';
import { useRead } from '../../queries.ts';
import type { StatisticsQuery } from '../../routes/statistics.ts';
import { useZone } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { statisticsText } from '../../text/statistics.ts';
import type { TimeRange } from '../overview/time-range.ts';
import { FigureTable } from './figure-table.tsx';
import { figuresOf, METRIC, metricsOf, type Shown } from './figures.ts';
import { type Grain, keptGrainOf, shiftOf, zoomedSpan } from './range.ts';
import { useFigureWords } from './use-figure-words.ts';

interface FigureCardProps {
  readonly query: StatisticsQuery;
  readonly span: TimeRange;
  readonly onZoom: (span: TimeRange) => void;
}

const EVERY_MS = 30_000;

export function FigureCard({ query, span, onZoom }: FigureCardProps) {
  const t = useText(statisticsText);
  const { metric, domains, compare } = query;
  // One domain alone is shown by its parts.
  const isSplit = query.isSplit && domains.length > 1;
  const load = useSeries({ ...query, isSplit }, span);
  const data = load.kind === 'ready' ? load.data : undefined;
  const seconds = span.to - span.from;
  const shown = useMemo(() => data && figuresOf({ metric, isSplit, data, seconds }), [metric, isSplit, data, seconds]);
  if (shown === undefined || load.kind !== 'ready') {
    return (
      <Card title={t.metrics[metric]}>
        <Loaded load={load.kind === 'failed' ? load : { kind: 'loading' }} lines={8}>
          {() => null}
        </Loaded>
      </Card>
    );
  }
  return (
    <>
      <Drawn {...{ metric, compare, span, shown, onZoom, isSplit, load }} />
      <FigureTable {...{ shown, metric, compare, domains }} grain={load.data.interval} />
    </>
  );
}

function useSeries({ metric, domains, isSplit, compare }: StatisticsQuery, span: TimeRange) {
  const shift = shiftOf(span, compare);
  return useRead(
    'stat.series',
    {
      metrics: metricsOf(metric, isSplit),
      interval: keptGrainOf(span, Date.now()),
      starttime: span.from,
      endtime: span.to - 1,
      ...(domains.length > 0 && { domain_ids: [...domains] }),
      ...(isSplit && { by: 'domain' as const }),
      ...(shift !== undefined && { shift }),
    },
    { everyMs: EVERY_MS, keepsPrevious: true },
  );
}

interface DrawnProps extends Pick<FigureCardProps, 'span' | 'onZoom'> {
  readonly metric: StatisticsQuery['metric'];
  readonly compare: StatisticsQuery['compare'];
  readonly isSplit: boolean;
  readonly shown: Shown;
  readonly load: Extract<Load<DataOf<'stat.series'>>, { readonly kind: 'ready' }>;
}

function Drawn({ metric, compare, isSplit, span: { from, to }, shown, load, onZoom }: DrawnProps) {
  const { interval, complete_until } = load.data;
  const t = useText(statisticsText);
  const zone = useZone();
  const { format, nameOf } = useFigureWords(metric, compare);
  const chart = useMemo(() => {
    const series = shown.figures.map((figure) => ({
      name: nameOf(figure),
      values: figure.values,
      color: figure.color,
      isDashed: figure.isCompared,
      isDotted: figure.isDotted,
      total: format(figure.total),
    }));
    return { times: shown.times, series, range: [from, to] as const };
  }, [shown, nameOf, format, from, to]);
  const isStacked = METRIC[metric].isStacked && !isSplit;
  const zoom = useZoom(onZoom, interval);
  return (
    <Card
      title={t.metrics[metric]}
      note={
        <>
          {t.grains[interval]} · {t.until} <Time at={Math.min(to * 1000, complete_until)} isClock /> · {zone}
        </>
      }
    >
      <Loaded load={load}>
        {() => <LazyChart label={t.metrics[metric]} {...chart} {...{ zone, format, isStacked, onZoom: zoom }} />}
      </Loaded>
      <p className="help">{t.zoomHelp}</p>
    </Card>
  );
}

/** The same function while the page is the same, or the chart would be drawn anew each time. */
function useZoom(onZoom: (span: TimeRange) => void, grain: Grain): NonNullable<ChartProps['onZoom']> {
  const latest = useRef(onZoom);
  latest.current = onZoom;
  return useCallback((from, to) => latest.current(zoomedSpan({ from, to }, grain)), [grain]);
}
