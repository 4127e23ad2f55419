/** The values of a chart as rows, the latest first, and as a CSV file. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { writeCsv } from '../../lib/csv.ts';
import { downloadText } from '../../lib/download.ts';
import { formatTime } from '../../lib/format.ts';
import { usePreference, useZone } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { statisticsText } from '../../text/statistics.ts';
import type { Figure, Shown } from './figures.ts';

interface FigureTableProps {
  readonly shown: Shown;
  readonly nameOf: (figure: Figure) => string;
  readonly format: (value: number) => string;
  /** Parts of the file's name. */
  readonly metric: string;
  readonly domain: string;
  readonly grain: string;
}

const ROWS = 24;

export function FigureTable({ shown: { times, figures }, nameOf, format, metric, domain, grain }: FigureTableProps) {
  const t = useText(statisticsText);
  const zone = useZone();
  const locale = usePreference('locale');
  const [isWhole, setWhole] = useState(false);
  const steps = times.map((time, step) => ({ time, step })).reverse();
  const download = () => {
    const rows = times.map((time, step) => [
      formatTime(time * 1000, { zone, locale }),
      ...figures.map(({ values }) => values[step] ?? null),
    ]);
    const text = writeCsv([`${t.time} (${zone})`, ...figures.map(nameOf)], rows);
    downloadText([domain || 'all', metric, grain].join('-').concat('.csv'), 'text/csv', text);
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
            id: `${figure.name}${figure.isCompared}`,
            title: nameOf(figure),
            isNumber: true,
            show: ({ step }: { readonly step: number }) => {
              const value = figure.values[step] ?? null;
              return value === null ? '—' : format(value);
            },
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
