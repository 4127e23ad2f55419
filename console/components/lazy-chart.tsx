/** A chart whose code comes when the first is shown, in room of the same height. */
import { lazy, Suspense } from 'react';
import styles from './chart.module.css';
import type { ChartProps } from './chart.tsx';

const Chart = lazy(async () => ({ default: (await import('./chart.tsx')).Chart }));

export function LazyChart(props: ChartProps) {
  return (
    <Suspense fallback={<div className={styles['plot']} />}>
      <Chart {...props} />
    </Suspense>
  );
}
