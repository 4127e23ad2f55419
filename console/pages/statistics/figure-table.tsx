/** The values of a chart as rows, the latest first, and as a CSV file. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { writeCsv } from '../../lib/csv.ts';
import { downloadText } from '../../lib/download.ts';
import { formatTime } from '../../lib/format.ts';
import type { StatisticsQuery } from '../../routes/statistics.ts';
import { usePreference, useZone } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { statisticsText } from '../../text/statistics.ts';
import type { Shown } from './figures.ts';
import type { Grain } from './range.ts';
import { useFigureWords } from './use-figure-words.ts';

interface FigureTableProps extends Pick<StatisticsQuery, 'metric' | 'compare' | 'domains'> {
  readonly shown: Shown;
  readonly grain: Grain;
}

const ROWS = 24;

export function FigureTable({ shown: { times, figures }, metric, compare, domains, grain }: FigureTableProps) {
  const t = useText(statisticsText);
  const zone = useZone();
  const locale = usePreference('locale');
  const { format, nameOf } = useFigureWords(metric, compare);
  const [isWhole, setWhole] = useState(false);
  const steps = times.map((time, step) => ({ time, step })).reverse();
  const download = () => {
    const rows = times.map((time, step) => [
      formatTime(time * 1000, { zone, locale }),
      ...figures.map(({ values }) => values[step] ?? null),
    ]);
    const text = writeCsv([`${t.time} (${zone})`, ...figures.map(nameOf)], rows);
    downloadText([domains.join('+') || 'all', metric, grain].join('-').concat('.csv'), 'text/csv', text);
  };
  return (
    <Card
      title={t.figures}
      isFlush
      actions={
        <Button icon="download" onClick={download}>
          {t.csv}
        </Button>
      }
    >
      <Table
        label={t.figures}
        rows={isWhole ? steps : steps.slice(0, ROWS)}
        keyOf={({ time }) => String(time)}
        columns={[
          { id: 'time', title: t.time, phone: 'first', show: ({ time }) => <Time at={time * 1000} /> },
          ...figures.map((figure) => ({
            id: nameOf(figure),
            title: nameOf(figure),
            isNumber: true,
            show: ({ step }: { readonly step: number }) => format(figure.values[step] ?? null),
          })),
        ]}
      />
      {!isWhole && steps.length > ROWS && (
        <div className="row pad">
          <Button onClick={() => setWhole(true)}>{t.showAll(steps.length)}</Button>
        </div>
      )}
    </Card>
  );
}
