/** Requests of the last five minutes, as edges count them: by ten seconds, or by the minute where that is all there is. */
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
import { liveText } from '../../text/live.ts';

type Live = DataOf<'stat.live'>;

const SPAN_SECONDS = 300;

/** The grain may become finer at any time: when the edges have been running for a while, or are less busy. */
const EVERY_MS = 10_000;

export function LiveCard({ domainId }: { readonly domainId?: string | undefined }) {
  const t = useText(liveText);
  const zone = useZone();
  const request = domainId === undefined ? {} : { domain_id: domainId };
  const load = useRead('stat.live', request, { everyMs: EVERY_MS });
  const data = load.kind === 'ready' ? load.data : undefined;
  return (
    <Card
      title={t.title}
      note={
        data && (
          <>
            {t.every(data.interval_seconds)} · {t.until} <Time at={data.complete_until} isClock /> · {zone}
            {data.missing_edges > 0 && ` · ${t.missing(data.missing_edges)}`}
          </>
        )
      }
    >
      <Loaded load={load} lines={5}>
        {(live) => <Drawn live={live} />}
      </Loaded>
    </Card>
  );
}

function Drawn({ live }: { readonly live: Live }) {
  const t = useText(liveText);
  const locale = usePreference('locale');
  const zone = useZone();
  const drawn = useMemo(() => {
    const { list, interval_seconds } = live;
    const format = (value: number) => formatShort(value, locale);
    const figure = (name: string, color: 'accent' | 'warn' | 'bad', read: (point: Live['list'][number]) => number) => {
      const values = list.map(read);
      return { name, color, values, total: format(values.reduce((sum, value) => sum + value, 0)) };
    };
    const series = [
      figure('5xx', 'bad', ({ status_5xx }) => status_5xx),
      figure('4xx', 'warn', ({ status_4xx }) => status_4xx),
      figure(t.others, 'accent', ({ requests, status_4xx, status_5xx }) => requests - status_4xx - status_5xx),
    ];
    const times = list.map(({ at }) => at / 1000);
    const end = (times.at(-1) ?? 0) + interval_seconds;
    const range = [Math.min(times[0] ?? end, end - SPAN_SECONDS), end] as const;
    return { times, series, range, format };
  }, [live, locale, t]);
  return <LazyChart label={t.title} zone={zone} isStacked {...drawn} />;
}
