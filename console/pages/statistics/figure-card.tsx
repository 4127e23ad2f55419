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
import type { StatisticsQuery } from '../../routes.ts';
import { useZone } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { statisticsText } from '../../text/statistics.ts';
import type { TimeRange } from '../overview/time-range.ts';
import { FigureTable } from './figure-table.tsx';
import { figuresOf, METRIC } from './figures.ts';
import { comparedSpan, type Grain, keptGrainOf, zoomedSpan } from './range.ts';
import { useFigureWords } from './use-figure-words.ts';

type Data = DataOf<'stat.requests'> | DataOf<'stat.traffic'>;

interface FigureCardProps {
  readonly query: StatisticsQuery;
  readonly span: TimeRange;
  readonly onZoom: (span: TimeRange) => void;
}

const EVERY_MS = 30_000;

export function FigureCard({ query, span, onZoom }: FigureCardProps) {
  const t = useText(statisticsText);
  const now = Date.now();
  const grain = keptGrainOf(span, now);
  const compared = comparedSpan(span, query.compare);
  const load = useSums(query, query.domain, grain, span, true);
  const domain = query.compare === 'domain' ? query.other : query.domain;
  const other = useSums(query, domain, grain, compared ?? span, compared !== null);
  const failed = [load, other].find(({ kind }) => kind === 'failed');
  if (failed !== undefined || load.kind !== 'ready') {
    return (
      <Card title={t.metrics[query.metric]}>
        <Loaded load={failed ?? load} lines={8}>
          {() => null}
        </Loaded>
      </Card>
    );
  }
  return (
    <Drawn
      {...{ query, span, grain, load, onZoom }}
      compared={other.kind === 'ready' ? other.data : undefined}
      shift={compared?.shift}
      until={Math.min(span.to * 1000, now)}
    />
  );
}

function useSums(
  { metric }: StatisticsQuery,
  domain: string,
  interval: Grain,
  { from, to }: TimeRange,
  isEnabled: boolean,
): Load<Data> {
  const request = { interval, starttime: from, endtime: to - 1, ...(domain !== '' && { domain }) };
  const options = { isEnabled, everyMs: EVERY_MS, keepsPrevious: true };
  return useRead(METRIC[metric].operation, request, options);
}

interface DrawnProps extends FigureCardProps {
  readonly grain: Grain;
  readonly load: Extract<Load<Data>, { readonly kind: 'ready' }>;
  readonly compared: Data | undefined;
  readonly shift: number | undefined;
  /** End of the data, Unix milliseconds. */
  readonly until: number;
}

function Drawn({ query, span: { from, to }, grain, load, compared, shift, until, onZoom }: DrawnProps) {
  const { data } = load;
  const t = useText(statisticsText);
  const zone = useZone();
  const { metric, compare, other, domain } = query;
  const { format, nameOf } = useFigureWords(metric, compare, other);
  const shown = useMemo(() => {
    const against = compared !== undefined && shift !== undefined ? { data: compared, shift } : undefined;
    return figuresOf({ metric, grain: data.interval, span: { from, to }, data, compared: against });
  }, [metric, data, from, to, compared, shift]);
  const chart = useMemo(() => {
    const series = shown.figures.map((figure, n) => {
      const total = shown.totals[n] ?? null;
      return {
        name: nameOf(figure),
        values: figure.values,
        color: figure.color,
        isDashed: figure.isCompared,
        total: total === null ? '—' : format(total),
      };
    });
    return { times: shown.times, series, range: [from, to] as const };
  }, [shown, nameOf, format, from, to]);
  const { isStacked } = METRIC[metric];
  const zoom = useZoom(onZoom, grain);
  return (
    <>
      <Card
        title={t.metrics[metric]}
        note={
          <>
            {t.grains[grain]} · {t.until} <Time at={until} isClock /> · {zone}
          </>
        }
      >
        <Loaded load={load}>
          {() => <LazyChart label={t.metrics[metric]} {...chart} {...{ zone, format, isStacked, onZoom: zoom }} />}
        </Loaded>
        <p className="help">{t.zoomHelp}</p>
      </Card>
      <FigureTable {...{ shown, nameOf, format, metric, domain, grain }} />
    </>
  );
}

/** The same function while the page is the same, or the chart would be drawn anew each time. */
function useZoom(onZoom: (span: TimeRange) => void, grain: Grain): NonNullable<ChartProps['onZoom']> {
  const latest = useRef(onZoom);
  latest.current = onZoom;
  return useCallback((from, to) => latest.current(zoomedSpan({ from, to }, grain)), [grain]);
}
