/** A chart whose code comes when the first is seen, and which is drawn when it is; until then room of the same height. */
import { useEffect, useRef, useState } from 'react';
import { lazily } from '../lib/lazily.ts';
import styles from './chart.module.css';
import type { ChartProps } from './chart.tsx';
import { Later } from './later.tsx';

const Chart = lazily(async () => (await import('./chart.tsx')).Chart);

export function LazyChart(props: ChartProps) {
  const room = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const element = room.current;
    if (element === null) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  if (!isSeen) return <div ref={room} className={styles['plot']} />;
  return (
    <Later as="part" fallback={<div className={styles['plot']} />}>
      <Chart {...props} />
    </Later>
  );
}
